// The terminal UI as a user sees it, in tmux: the real claude and the real codex under the real daemon, on scripted
// models. Every checked screen is kept as text below .e2e/screens.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { Machine } from "../manager/machine.ts";

if (tmuxVersion() === undefined && process.env["CI_REQUIRE_FACES"] === "1")
  throw new Error("CI_REQUIRE_FACES is set, and there is no tmux");

let machine: Machine;
let terminals: TmuxTerminal[] = [];

beforeAll(async () => {
  machine = await Machine.create();
});
afterEach(() => {
  for (const terminal of terminals) terminal.close();
  terminals = [];
});
afterAll(() => machine.close());

function open(folder: string, command: readonly string[], more: Record<string, string> = {}): TmuxTerminal {
  const terminal = new TmuxTerminal({
    command,
    env: { ...machine.env, ...more },
    cwd: machine.cwd,
    saveTo: join(ROOT, ".e2e/screens", folder),
  });
  terminals.push(terminal);
  return terminal;
}

/** A foreground colour, of the eight or of more. */
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[([0-9;]*;)?(3[0-7]|38;[0-9;]+|9[0-7])m`);

const has = (file: string) => existsSync(join(machine.cwd, file));

const AGENTS = [
  {
    agent: "claude",
    run: (command: string) => `#mock:bash ${command}`,
    takesReason: true,
    question: `#mock:tool AskUserQuestion ${JSON.stringify({
      questions: [
        {
          question: "Which colour?",
          header: "Colour",
          multiSelect: false,
          options: [
            { label: "Red", description: "like fire" },
            { label: "Blue", description: "like the sea" },
          ],
        },
      ],
    })}`,
  },
  {
    agent: "codex",
    run: (command: string) => `#mock:escalate ${command}`,
    // Its protocol has no field for one.
    takesReason: false,
    question: "#mock:ask Which colour?",
  },
];

/** The composer turns to the pending request; only a key press does that. */
async function turnTo(terminal: TmuxTerminal, mode: "approval" | "input"): Promise<string> {
  terminal.press("C-n");
  return terminal.until(`─ ${mode} ·`);
}

async function say(terminal: TmuxTerminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.until(text.slice(-20));
  terminal.press("Enter");
}

/** The newest request to this agent's model. */
const told = (agent: string): string =>
  JSON.stringify((agent === "claude" ? machine.anthropic : machine.responses).requests.at(-1));

describe.skipIf(tmuxVersion() === undefined)("in tmux", () => {
  test.each(AGENTS)(
    "$agent: a message streams in, a request is approved, one declined with a reason, a question answered",
    async ({ agent, run, question, takesReason }) => {
      await machine.spawn(agent, `${agent}-one`, "#mock:text ready");
      const terminal = open(`${agent}-talk`, ["sm", "tui", `${agent}-one`]);
      await terminal.until("ready");
      await terminal.until("idle");
      await say(terminal, "#mock:slow 40 50");
      const streaming = await terminal.until(/tick2\b/);
      expect(streaming).not.toContain("tick39");
      expect(streaming).toMatch(/working|thinking/);
      terminal.save("streams");
      await terminal.until("tick39");
      await terminal.until("idle");

      await say(terminal, run(`mkdir made-by-${agent}`));
      await terminal.until("─ approval ·");
      terminal.save("asks");
      // Normal text never answers: it stays in the composer, and nothing is done.
      terminal.press("Escape");
      await terminal.until("─ chat (disabled");
      terminal.type("y");
      terminal.press("Enter");
      await terminal.until("not sent");
      expect(has(`made-by-${agent}`)).toBe(false);
      terminal.press("C-u");
      expect(await turnTo(terminal, "approval")).toContain(`mkdir made-by-${agent}`);
      terminal.save("approval");
      terminal.press("y");
      await terminal.until("tool said");
      await terminal.until("idle");
      expect(has(`made-by-${agent}`)).toBe(true);
      terminal.save("approved");

      await say(terminal, run(`touch never-by-${agent}`));
      await terminal.until("needs approval");
      expect(await turnTo(terminal, "approval")).toContain(`touch never-by-${agent}`);
      terminal.press("n");
      if (takesReason) {
        await terminal.until("decline: reason");
        terminal.type("use the other directory");
        terminal.press("Enter");
      }
      await terminal.until("idle");
      expect(has(`never-by-${agent}`)).toBe(false);
      terminal.save("declined");
      if (takesReason) expect(told(agent)).toContain("use the other directory");

      await say(terminal, question);
      await terminal.until("has a question");
      await turnTo(terminal, "input");
      await terminal.until("Which colour?");
      terminal.save("question");
      terminal.press("2");
      terminal.press("Enter");
      await terminal.until("idle");
      expect(told(agent)).toContain("Blue");
      terminal.save("answered");
    },
  );

  test.each(AGENTS)(
    "$agent: a turn is interrupted, a follow-up waits in the queue and is delivered, and another client's message is shown",
    async ({ agent }) => {
      await machine.spawn(agent, `${agent}-two`, "#mock:text ready");
      const terminal = open(`${agent}-interrupt`, ["sm", "attach", `${agent}-two`]);
      await terminal.until("idle");
      await say(terminal, "#mock:slow 600 100");
      await terminal.until(/tick2\b/);
      await say(terminal, "#mock:text from the queue");
      await terminal.until(/1 queued|queue/);
      terminal.save("queued");
      terminal.press("C-c");
      await terminal.until(/interrupted/);
      await terminal.until(/^\s+from the queue/m);
      await terminal.until("idle");
      terminal.save("delivered");
      await machine.say(`${agent}-two`, "#mock:text said in another shell");
      await terminal.until(/^\s+said in another shell/m);
      // While that is shown one more is enough; a second would reach a terminal that was already restored.
      await terminal.untilGone("Ctrl-C again to quit");
      terminal.press("C-c", "C-c");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.ask("#{alternate_on}")).toBe("0");
    },
  );

  test("a killed daemon is reported, and everything continues in the same place when it is back", async () => {
    await machine.spawn("claude", "survivor", "#mock:text before the crash");
    const terminal = open("restart", ["sm", "codex-tui", "survivor"]);
    await terminal.until("before the crash");
    await terminal.until("idle");
    terminal.type("a draft that is");
    await machine.killDaemon();
    await terminal.until(/connection lost|reconnecting/i);
    terminal.save("lost");
    terminal.type(" kept");
    expect(await machine.say("survivor", "#mock:text after the crash")).toBe("after the crash\n");
    const screen = await terminal.until(/^\s+after the crash/m);
    expect(screen.match(/^\s+before the crash/gm)).toHaveLength(1);
    // The list of sessions has its own stream, which may come back later.
    expect(await terminal.untilGone(/connection lost/i)).toContain("a draft that is kept");
    terminal.save("back");
  });

  test("it is redrawn when the terminal is resized, also to one that is far too small", async () => {
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");
    await machine.spawn("codex", "resized", `#mock:text ${words}`);
    const terminal = open("resize", ["sm", "tui", "resized"]);
    await terminal.until("word59");
    for (const [columns, rows] of [
      [140, 40],
      [40, 12],
      [20, 5],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      const edge = new RegExp(`^.{${columns + 1},}$`, "m");
      await terminal.until(rows > 6 ? "word59" : /\S/);
      expect(terminal.screen()).not.toMatch(edge);
      terminal.save(`${columns}x${rows}`);
    }
    terminal.type("still here");
    await terminal.until("still here");
  });

  test("a request that is answered elsewhere while its reason is typed does not discard the text", async () => {
    await machine.spawn("claude", "shared", "#mock:bash mkdir by-another");
    const terminal = open("elsewhere", ["sm", "tui", "shared"]);
    await terminal.until("─ approval ·");
    terminal.press("Escape");
    await terminal.until("─ chat (disabled");
    await say(terminal, "a draft of mine");
    await terminal.until("not sent");
    await turnTo(terminal, "approval");
    terminal.press("n");
    await terminal.until("decline: reason");
    terminal.type("because it");
    await terminal.until("> because it");
    const [request] = await machine.requests("shared");
    await machine.sm("approve", request?.request_id ?? "");
    const screen = await terminal.until("request closed: answered elsewhere");
    expect(screen).toMatch(/─ chat .*\n> a draft of mine$/m);
    terminal.save("gone");
    await terminal.until("idle");
    expect(has("by-another")).toBe(true);
    expect(told("claude")).not.toContain("a draft of mine");
  });

  test("a session that is removed while it is shown is reported, and typed text stays", async () => {
    await machine.spawn("codex", "doomed", "#mock:text so long");
    const terminal = open("removed", ["sm", "tui", "doomed"]);
    await terminal.until("so long");
    terminal.type("too late");
    await terminal.until("> too late");
    expect((await machine.sm("rm", "doomed", "--yes")).code).toBe(0);
    await terminal.until("closed");
    terminal.press("Enter");
    await terminal.until(/not sent: .*\S/);
    expect(await terminal.until("> too late")).toContain("so long");
    terminal.save("removed");
    terminal.press("C-c", "C-c");
    expect(await terminal.ended()).toBe(0);
  });

  test("leaving ends the program also if the daemon no longer answers", async () => {
    await machine.spawn("codex", "hung", "#mock:text ready");
    const { daemon } = await machine.json<{ daemon: { pid: number } }>("status");
    const terminal = open("hung", ["sm", "tui", "hung"]);
    await terminal.until("ready");
    await terminal.until("idle");
    process.kill(daemon.pid, "SIGSTOP");
    try {
      await say(terminal, "nobody reads this");
      terminal.press("C-c", "C-c");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.ask("#{alternate_on} #{cursor_flag} #{wrap_flag} #{mouse_any_flag}")).toMatch(
        /^0 . 1 0$/,
      );
    } finally {
      process.kill(daemon.pid, "SIGCONT");
    }
  });

  test.each([
    { TERM: "xterm" },
    { TERM: "linux" },
    { TERM: "screen" },
    { TERM: "vt100", NO_COLOR: "1" },
    { LANG: "C" },
  ])("it can be read and used with %o", async (more) => {
    const name = Object.values(more).join("-").toLowerCase();
    if ((await machine.sm("show", "poor")).code !== 0)
      await machine.spawn("codex", "poor", "#mock:text ready");
    const terminal = open(`poor-${name}`, ["sm", "tui", "poor"], { ...more });
    await terminal.until("idle");
    await say(terminal, `#mock:text **answered** ${name}`);
    await terminal.until(new RegExp(`^\\s+answered ${name}`, "m"));
    terminal.save("used");
    if ("LANG" in more) expect(terminal.screen()).toMatch(/^[\n -~]*$/);
  });

  test("the list shows waiting sessions first, opens one, and comes back; also without colours", async () => {
    await machine.spawn("claude", "asker", "#mock:bash mkdir asked-for");
    await machine.sm("wait", "asker");
    const terminal = open("list", ["blemees"], { NO_COLOR: "1" });
    const list = await terminal.until(/needs approval\s+asker/);
    expect(list).toMatch(/\? \d+ waiting/);
    expect(list.indexOf("asker")).toBeLessThan(list.indexOf("resized"));
    expect(terminal.styled()).not.toMatch(COLOUR);
    terminal.save("waiting");
    terminal.press("w");
    terminal.press("Enter");
    await terminal.until(/^\? needs approval {2}asker/m);
    await turnTo(terminal, "approval");
    terminal.save("approval");
    terminal.press("Escape");
    await terminal.until("─ chat");
    terminal.press("Escape");
    await terminal.until(/\? \d+ waiting/);
    terminal.press("q");
    expect(await terminal.ended()).toBe(0);
    expect(has("asked-for")).toBe(false);
  });
});
