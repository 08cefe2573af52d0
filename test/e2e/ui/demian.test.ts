// `demian` on its screen as it ships, in tmux, against a scripted model: what users can meet beyond a plain chat, which
// test/cli/demian/tui/screen.test.ts covers. Every checked screen is kept as text below .e2e/screens.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { messagesOf } from "../../cli/demian/every-terminal.ts";
import { asked, ready, send } from "../../cli/demian/tui/at-screen.ts";
import { World } from "../../cli/demian/world.ts";
import { gate } from "../../support/gate.ts";
import { bash, chatReply, type ModelServer, startModelServer, stuck } from "../../support/model-server.ts";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { Machine } from "../manager/machine.ts";
import { untilGone } from "../processes.ts";

if (tmuxVersion() === undefined && process.env["CI_REQUIRE_FACES"] === "1")
  throw new Error("CI_REQUIRE_FACES is set, and there is no tmux");

const DEMIAN = [process.execPath, join(ROOT, "dist/demian.js")];
/** Runs the command, prints how it ended, and stays: tmux pushes a program's last output off its screen. */
const SHELL = ["sh", "-c", '"$@"; echo "LEFT $?"; read _', "sh"];
const world = new World();
let model: ModelServer;
let terminals: TmuxTerminal[] = [];

beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  closeAll();
  // After a hangup demian still writes its transcript, into the home that the next test removes.
  await untilGone(`HOME=${world.home}`);
  await model.close();
});
afterAll(() => world.remove());

function closeAll(): void {
  for (const terminal of terminals) terminal.close();
  terminals = [];
}

interface Start {
  args?: readonly string[];
  size?: readonly [columns: number, rows: number];
  env?: Record<string, string>;
  command?: readonly string[];
}

function start(folder: string, { args = [], size = [80, 24], env = {}, command }: Start = {}): TmuxTerminal {
  const terminal = new TmuxTerminal({
    command: command ?? [...DEMIAN, ...args],
    env: { ...world.env, ...env },
    cwd: world.workspace,
    columns: size[0],
    rows: size[1],
    saveTo: join(ROOT, ".e2e/screens", `demian-${folder}`),
  });
  terminals.push(terminal);
  return terminal;
}

const open = (folder: string, how?: Start): Promise<TmuxTerminal> => ready(start(folder, how));

/** The text, page by page, to its end. */
async function readOn(screen: TmuxTerminal): Promise<string[]> {
  const pages = [screen.screen()];
  while (pages.at(-1)?.includes("more rows: PgDn")) {
    screen.press("PageDown");
    pages.push(
      await vi.waitFor(() => {
        const page = screen.screen();
        expect(bodyOf(page)).not.toBe(bodyOf(pages.at(-1)));
        return page;
      }, PATIENT),
    );
  }
  return pages;
}

/** Without the clock above it. */
function bodyOf(page = ""): string {
  return page.slice(page.indexOf("─ approval"));
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const inTmux = describe.skipIf(tmuxVersion() === undefined);

inTmux("who begins", () => {
  test("in a project that brings agents asks about them before the screen, and Enter is no answer", async () => {
    put(
      join(world.workspace, ".demian/agents/tidy.md"),
      "---\ndescription: Tidies up.\nmode: primary\ntools:\n  visible: [read_file]\npermissions: []\n---\nYou tidy.\n",
    );
    const screen = start("trust");
    await screen.until(/Tidies up[\s\S]*not now:/);
    screen.save("asked");
    screen.press("Enter");
    await ready(screen);
    await screen.until(/prompts you\s+did not write: tidy/);
  });

  test.each([
    [["--agent", "nope"], /there is no agent "nope"; known: build, plan/],
    [["--image", "nope.png"], /cannot read the image \S*nope\.png/],
    [["--daemon", "--provider", "lcal"], /no provider "lcal"; did you mean local\?/],
  ])("with %j prints the reason before anything is drawn", async (args, why) => {
    const screen = start("wrong", { command: [...SHELL, ...DEMIAN, ...args], size: [160, 24] });
    expect(await screen.until("LEFT 1")).toMatch(why);
  });
});

inTmux("letters that open pickers", () => {
  test("begin a message when more follows, and while a task runs, and in a paste", async () => {
    const more = gate();
    model.script(stuck("working on it", more.passed), chatReply("second"), chatReply("third"));
    const screen = await open("letters");
    screen.press("p");
    await screen.until("─ provider ─");
    for (const key of ["l", "e", "a", "s", "e"]) screen.press(key);
    await screen.until(/\n> please\n/);
    screen.save("please");
    screen.press("Enter");
    await screen.until("working on it");
    screen.press("a");
    await screen.until(/\n> a\n/);
    await send(screen, "nd then this");
    await screen.until("queued: and then this");
    more.open();
    await screen.until(/second[\s\S]*✓ done/);
    screen.paste("m");
    await screen.until(/\n> m\n/);
    await send(screen, "ore");
    await screen.until(/third[\s\S]*✓ done/);
    const said = [0, 1, 2].map((at) => JSON.stringify(messagesOf(model, at).at(-1)));
    expect(said).toEqual(["please", "and then this", "more"].map((text) => expect.stringContaining(text)));
  });

  test("Esc closes a picker and changes nothing, Up and Down wrap around, an unusable entry shows the reason", async () => {
    const screen = await open("pickers");
    screen.press("p");
    await screen.until(/> ✓ local +small/);
    screen.press("Up");
    await screen.until(/> {3}locked/);
    screen.press("Enter");
    await screen.until(/! .*NOT_SET_ANYWHERE/);
    screen.save("not-ready");
    screen.press("Down");
    await screen.until(/> ✓ local +small/);
    screen.press("Escape");
    await screen.untilGone("─ provider ─");
    expect(screen.screen()).toContain("provider local (config)");
  });
});

inTmux("what is asked", () => {
  test("can be read completely and answered on a small screen, and on a large one", async () => {
    const command = `echo ${"word ".repeat(40)}; touch made.txt`;
    model.script(bash(command), chatReply("Done."));
    const screen = await open("small", { size: [40, 12] });
    await send(screen, "do it");
    await asked(screen, /more rows: PgDn[\s\S]*1 y Accept once\n> \d n Decline/);
    const pages = await readOn(screen);
    expect(pages.at(-1)).not.toMatch(/more rows/);
    expect(pages.join("").replaceAll("\n  ┆ ", "")).toContain("touch made.txt");
    screen.save("small");
    screen.resize(120, 40);
    await screen.until(/asks to run a command:[\s\S]*touch made\.txt[\s\S]*> \d n Decline/);
    screen.save("large");
    screen.press("y");
    await screen.until(/Done\.[\s\S]*✓ done/);
    expect(world.has("made.txt")).toBe(true);
  });

  test("a tool that asks is answered with one of its options", async () => {
    put(
      join(world.home, ".demian/agents/poll.md"),
      "---\nname: poll\ndescription: Asks.\ntools:\n  visible: [poll]\npermissions:\n  - tool: poll\n    decision: allow\n---\nYou ask.\n",
    );
    put(
      join(world.home, ".demian/tools/poll.mjs"),
      `export default { name: "poll", description: "Asks.", inputSchema: { type: "object", properties: {} },
  async execute(_, { question }) {
    return { ok: true, content: "they said " + (await question({ text: "Which colour?", options: ["Red", "Blue"] })) };
  } };\n`,
    );
    model.script(chatReply("", [{ name: "poll", input: {} }]), chatReply("Thanks."));
    const screen = await open("question", { args: ["--trust-user-tools", "--agent", "poll", "--yes"] });
    await send(screen, "ask me");
    await asked(screen, /Which colour\?[\s\S]*Red[\s\S]*Blue/);
    screen.save("asked");
    screen.press("2");
    screen.press("Enter");
    await screen.until(/Thanks\.[\s\S]*✓ done/);
    expect(JSON.stringify(messagesOf(model, 1).at(-1))).toContain("they said Blue");
  });
});

inTmux("commands", () => {
  test("/agents, /use-plan and an unknown command answer at once, and call no model", async () => {
    const screen = await open("commands");
    await send(screen, "/agents");
    await screen.until("single-agent mode; start demian with --multi-agent");
    await send(screen, "/use-plan");
    await screen.until("there is no plan");
    await send(screen, "/compct");
    await screen.until("did you mean /compact?");
    expect(model.requests).toHaveLength(0);
  });
});

inTmux("ways out", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends the task, restores the terminal and closes the runtime", async (signal, code) => {
    model.script(stuck("thinking about it"));
    const screen = await open("signals");
    await send(screen, "first");
    await screen.until("thinking about it");
    process.kill(screen.pid, signal);
    expect(await screen.ended()).toBe(code);
    expect(screen.ask("#{alternate_on}")).toBe("0");
    expect(world.transcript().at(-1)).toMatchObject({ type: "session.ended", reason: "closed" });
  });

  test("Ctrl-Z returns to the shell while the task keeps waiting, and fg to the screen", async () => {
    model.script(bash("touch made.txt"), chatReply("Done."));
    const screen = start("suspend", { command: ["bash", "--norc", "-i"], env: { PS1: "% " } });
    await screen.until(/^% $|%/);
    screen.type(DEMIAN.join(" "));
    screen.press("Enter");
    await ready(screen);
    await send(screen, "create it");
    await asked(screen, "│ touch made.txt");
    screen.press("C-z");
    await screen.until("Stopped");
    expect(screen.ask("#{alternate_on}")).toBe("0");
    screen.type("fg; echo LEFT $?");
    screen.press("Enter");
    await screen.until(/│ touch made\.txt[\s\S]*> \d n Decline/);
    screen.press("y");
    await screen.until(/Done\.[\s\S]*✓ done/);
    screen.press("C-c");
    await screen.until("Ctrl-C again to quit");
    screen.press("C-c");
    await screen.until("LEFT 130");
  });
});

inTmux("--daemon", () => {
  let machine: Machine;
  beforeEach(async () => {
    machine = await Machine.create();
    mkdirSync(join(machine.home, ".demian"));
    writeFileSync(join(machine.home, ".demian/config.json"), readFileSync(world.configFile));
  });
  afterEach(async () => {
    closeAll();
    await machine.close();
  });

  test("starts a daemon and a session there, which waits without the screen and is answered later", async () => {
    model.script(chatReply("Hello."), bash("touch made.txt"), chatReply("Made."));
    const screen = start("daemon", {
      command: ["env", "-C", machine.cwd, ...DEMIAN, "--daemon", "say hello"],
      env: machine.env,
      size: [120, 24],
    });
    await screen.until(/Hello\.[\s\S]*✓ done/);
    await send(screen, "now make it");
    await screen.until(/needs approval[\s\S]*─ approval ·/);
    screen.save("asks");
    screen.press("Escape");
    await screen.until("─ chat");
    await send(screen, "/exit");
    expect(await screen.ended()).toBe(0);
    const [, id = ""] = /reopen it with: sm attach (\S+)/.exec(screen.screen()) ?? [];
    expect(id).not.toBe("");
    const back = start("daemon-back", { command: ["sm", "attach", id], env: machine.env });
    await back.until(
      /Hello\.[\s\S]*now make it[\s\S]*─ approval ·[\s\S]*touch made\.txt[\s\S]*> \d n Decline/,
    );
    back.save("back");
    // A key right after it opened by itself is not taken.
    back.press("Escape");
    await back.until("─ chat (disabled");
    back.press("C-n");
    await back.until(/> \d n Decline/);
    back.press("y");
    await back.until(/Made\.[\s\S]*✓ done/);
    expect(existsSync(join(machine.cwd, "made.txt"))).toBe(true);
  });
});
