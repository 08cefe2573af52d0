// `demian` on its screen, as users run it: built, in a real terminal, against a model on loopback. Longer tests are in
// test/e2e/ui/demian.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bash, chatReply, type ModelServer, startModelServer, stuck } from "../../../support/model-server.ts";
import { type TmuxTerminal, tmuxVersion } from "../../../support/tmux.ts";
import { bundleParts, findStaticModules } from "../../modules-at-start.ts";
import { BuiltDemian } from "../built-demian.ts";
import { messagesOf } from "../every-terminal.ts";
import { World } from "../world.ts";
import { asked, decide, ready, send } from "./at-screen.ts";

const world = new World();
const built = new BuiltDemian(world);
let model: ModelServer;
let terminal: TmuxTerminal | undefined;

// Longer than the wait for a screen, whose error shows the actual screen.
vi.setConfig({ testTimeout: 45_000 });

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
  return ready(terminal);
}

describe("what is loaded", () => {
  const OF_SCREENS = /node_modules\/(marked|lowlight|highlight\.js)\//;
  let bundle: Awaited<ReturnType<typeof bundleParts>>;
  beforeAll(async () => {
    bundle = await bundleParts("src/bin/demian.ts");
  });

  test.each([
    "src/cli/demian/program.ts",
    "src/cli/demian/acp.ts",
    "src/cli/demian/default-command.ts",
    "src/cli/demian/once.ts",
  ])("%s loads no UI code", (source) => {
    const modules = findStaticModules(bundle, source);
    expect(modules).toContain(source);
    expect(modules.filter((path) => OF_SCREENS.test(path))).toEqual([]);
  });
});

describe.skipIf(tmuxVersion() === undefined)("on the screen", () => {
  test("settings are shown, a message is answered, /exit exits with 0 and names the transcript", async () => {
    model.script(chatReply("Hello **there**."));
    const screen = await open();
    expect(screen.screen()).toMatch(
      /provider local \(config\) · model small \(config\) · agent build \(config\)/,
    );
    await send(screen, "hi");
    await screen.until(/Hello there\.[\s\S]*✓ done/);
    await send(screen, "/exit");
    expect(await screen.ended()).toBe(0);
    expect(screen.screen()).toMatch(/^continue with: demian --resume=ses_\S+\n/);
    expect(world.transcript().at(-1)).toMatchObject({ type: "session.ended", reason: "closed" });
    expect(screen.ask("#{alternate_on}")).toBe("0");
  });

  test("the prompt shows the whole command, y runs it, and Enter alone does not", async () => {
    model.script(bash("touch one.txt"), bash("touch two.txt"), chatReply("Both done."));
    const screen = await open();
    await send(screen, "create them");
    const question = await asked(screen, "│ touch one.txt");
    expect(question).toMatch(/ {2}1 y Accept once\n> 2 n Decline\n/);
    screen.press("y");
    await screen.until("│ touch two.txt");
    // The second Enter skips the reason.
    await decide(screen, "Enter", "│ touch two.txt");
    await screen.until(/Both done\.[\s\S]*✓ done/);
    expect([world.has("one.txt"), world.has("two.txt")]).toEqual([true, false]);
  });

  test("p, m and a with an empty line select provider, model and agent; later they are letters", async () => {
    model.script(chatReply("ok"));
    const screen = await open();
    screen.press("p");
    await screen.until(/> ✓ local +small/);
    screen.press("Down", "Enter");
    await screen.until("provider other (interactive) · model large (config)");
    screen.press("m");
    await screen.until(/> ✓ large/);
    await send(screen, "huge");
    await screen.until("model huge (interactive)");
    screen.press("a");
    await screen.until(/plan /);
    await send(screen, "plan");
    await screen.until("agent plan");
    await send(screen, "so p m a");
    await screen.until("✓ done");
    expect(model.requests[0]?.body).toMatchObject({ model: "huge" });
    expect(JSON.stringify(messagesOf(model, 0).at(-1))).toContain("so p m a");
  });

  test("Ctrl-C stops the task and clears the queue, Up recalls the message, twice exits with 130", async () => {
    model.script(stuck("thinking about it"));
    const screen = await open();
    await send(screen, "first");
    await screen.until("thinking about it");
    await send(screen, "second");
    await screen.until("queued: second");
    screen.press("C-c");
    await screen.until(/not sent; press Up to recall it[\s\S]*interrupted/);
    screen.press("Up");
    await screen.until(/\n> second\n/);
    screen.press("C-c");
    await screen.until(/\n>\n[\s\S]*Ctrl-C again to quit/);
    // Once: another one would reach a terminal that was already restored.
    screen.press("C-c");
    expect(await screen.ended()).toBe(130);
  });
});
