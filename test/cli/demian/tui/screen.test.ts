// `demian` on its screen, as people run it: built, in a real terminal, against a model on loopback.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bash, chatReply, type ModelServer, startModelServer, stuck } from "../../../support/model-server.ts";
import { type TmuxTerminal, tmuxVersion } from "../../../support/tmux.ts";
import { BuiltDemian } from "../built-demian.ts";
import { messagesOf } from "../every-terminal.ts";
import { delegate, teamOf, write } from "../several-agents.ts";
import { World } from "../world.ts";

const world = new World();
let built: BuiltDemian;
let model: ModelServer;
let terminal: TmuxTerminal | undefined;

// A screen that does not come says what is there instead, before the test itself gives up.
vi.setConfig({ testTimeout: 45_000 });

beforeAll(async () => {
  built = await BuiltDemian.build(world);
});
beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  terminal?.close();
  terminal = undefined;
  await model.close();
});
afterAll(() => world.remove());

async function open(args: string[] = [], env: Record<string, string> = {}): Promise<TmuxTerminal> {
  terminal = built.screen(args, env);
  await terminal.until(/idle[\s\S]*Enter sends/);
  return terminal;
}

function send(screen: TmuxTerminal, text: string): void {
  screen.type(text);
  screen.press("Enter");
}

function transcript(): { type: string }[] {
  const directory = join(world.workspace, ".demian/transcripts");
  const [session = ""] = readdirSync(directory).filter((name) => name.startsWith("ses_"));
  const lines = readFileSync(join(directory, session, "session.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as { type: string });
}

/** Keys count only when they were hardly typed for something else: not in the first second of a turn. */
async function asked(screen: TmuxTerminal, what: string | RegExp): Promise<string> {
  await screen.until(/turn 0:0[1-9]/);
  return screen.until(what);
}

describe("what is loaded", () => {
  const OF_SCREENS = /node_modules\/(ink|react|react-reconciler|yoga-layout|marked|lowlight|highlight\.js)\//;

  test.each([
    "src/bin/demian.ts",
    "src/cli/demian/acp.ts",
    "src/cli/demian/talk.ts",
    "src/cli/demian/once.ts",
  ])("%s needs nothing that draws screens", (source) => {
    const modules = built.modulesOf(source);
    expect(modules).toContain(source);
    expect(modules.filter((path) => OF_SCREENS.test(path))).toEqual([]);
  });
});

describe.skipIf(tmuxVersion() === undefined)("on the screen", () => {
  test("settings stand there, a message is answered, /exit leaves with 0 and says where the transcript is", async () => {
    model.script(chatReply("Hello **there**."));
    // Ink alone draws nothing where CI is set.
    const screen = await open([], { CI: "true" });
    expect(screen.screen()).toMatch(
      /provider local \(config\) · model small \(config\) · agent build \(config\)/,
    );
    send(screen, "hi");
    await screen.until(/Hello there\.[\s\S]*✓ done/);
    send(screen, "/exit");
    expect(await screen.ended()).toBe(0);
    // tmux has pushed the beginning of the line off the screen.
    expect(screen.screen()).toMatch(/^\S*\.jsonl\n/);
    expect(transcript().at(-1)).toMatchObject({ type: "session.ended", reason: "closed" });
    expect(screen.ask("#{alternate_on}")).toBe("0");
  });

  test("a command is asked about with all of it, y runs it, and Enter alone does not", async () => {
    model.script(bash("touch one.txt"), bash("touch two.txt"), chatReply("Both done."));
    const screen = await open();
    send(screen, "create them");
    const question = await asked(screen, "│ touch one.txt");
    expect(question).toMatch(/y accept\n> n decline\n/);
    screen.press("y");
    await screen.until("│ touch two.txt");
    screen.press("Enter");
    screen.press("Enter");
    await screen.until(/Both done\.[\s\S]*✓ done/);
    expect([world.has("one.txt"), world.has("two.txt")]).toEqual([true, false]);
  });

  test("n takes a reason, and the model is told it", async () => {
    model.script(bash("touch made.txt"), chatReply("As you like."));
    const screen = await open();
    send(screen, "create it");
    await asked(screen, "│ touch made.txt");
    screen.press("n");
    await screen.until("tell the agent why");
    send(screen, "use mkdir");
    await screen.until("As you like.");
    expect(world.has("made.txt")).toBe(false);
    expect(JSON.stringify(messagesOf(model, 1).at(-1))).toContain("use mkdir");
  });

  test("a allows it always, and it is not asked again", async () => {
    model.script(write("a.txt", "a\n"), write("b.txt", "b\n"), chatReply("Written."));
    const screen = await open();
    send(screen, "write both");
    await asked(screen, "a accept always");
    screen.press("a");
    await screen.until(/Written\.[\s\S]*✓ done/);
    expect([world.has("a.txt"), world.has("b.txt")]).toEqual([true, true]);
  });

  test("p, m and a in an empty line choose provider, model and agent; later they are letters", async () => {
    model.script(chatReply("ok"));
    const screen = await open();
    screen.press("p");
    await screen.until(/> ✓ local +small/);
    screen.press("Down", "Enter");
    await screen.until("provider other (interactive) · model large (config)");
    screen.press("m");
    await screen.until(/─ model ─/);
    send(screen, "huge");
    await screen.until("model huge (interactive)");
    screen.press("a");
    await screen.until(/plan /);
    send(screen, "plan");
    await screen.until("agent plan");
    send(screen, "so p m a");
    await screen.until("✓ done");
    expect(model.requests[0]?.body).toMatchObject({ model: "huge" });
    expect(JSON.stringify(messagesOf(model, 0).at(-1))).toContain("so p m a");
  });

  test("Ctrl-C stops the task and forgets what waits, Up recalls it, twice leaves with 130", async () => {
    model.script(stuck("thinking about it"));
    const screen = await open();
    send(screen, "first");
    await screen.until("thinking about it");
    send(screen, "second");
    await screen.until("queued: second");
    screen.press("C-c");
    await screen.until(/not sent; Up recalls it[\s\S]*interrupted/);
    screen.press("Up");
    await screen.until(/\n> second\n/);
    screen.press("C-c");
    await screen.until(/\n>\n/);
    screen.press("C-c");
    screen.press("C-c");
    expect(await screen.ended()).toBe(130);
  });

  test("SIGTERM ends the task, puts the terminal back and closes the runtime", async () => {
    model.script(stuck("thinking about it"));
    const screen = await open();
    send(screen, "first");
    await screen.until("thinking about it");
    process.kill(screen.pid, "SIGTERM");
    expect(await screen.ended()).toBe(143);
    expect(screen.ask("#{alternate_on}")).toBe("0");
    expect(transcript().at(-1)).toMatchObject({ type: "session.ended", reason: "closed" });
  });

  test("/compact says what became of the conversation", async () => {
    const screen = await open();
    for (let n = 1; n <= 8; n += 1) {
      model.script(chatReply(`answer ${n} `.repeat(40)));
      send(screen, `question ${n}`);
      await screen.until(new RegExp(`question ${n}[\\s\\S]*✓ done|answer ${n} [\\s\\S]*✓ done`));
    }
    send(screen, "/compact");
    await screen.until(
      /compacted the conversation:\n +tokens +about \d+ before, \d+ after\n +messages +\d+ kept/,
    );
  });
});

describe.skipIf(tmuxVersion() === undefined)("several agents on the screen", () => {
  let other: ModelServer;
  beforeEach(async () => {
    other = await startModelServer();
    world.begin(model.url, teamOf(other));
  });
  afterEach(() => other.close());

  test("a sub-agent's work stands below its call, and its question names it", async () => {
    model.script(delegate("write b.txt"), chatReply("All done."));
    other.script(write("b.txt", "b\n"), chatReply("I wrote it."));
    const screen = await open();
    send(screen, "delegate it");
    await asked(screen, /start the agent writer with the provider elsewhere/);
    screen.press("y");
    await screen.until(/for the sub-agent:\n +│ writer\n/);
    screen.press("y");
    const whole = await screen.until(/All done\.[\s\S]*✓ done/);
    expect(whole).toMatch(
      /delegate_agent writer[\s\S]*\n │ ● write_file[^\n]*b\.txt[\s\S]*\n │ +I wrote it\./,
    );
    expect(world.has("b.txt")).toBe(true);
  });
});
