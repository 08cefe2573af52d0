// `demian --daemon`: the session it requests and what it refuses; and its driver without a screen, on a real daemon
// whose demian uses a model on loopback.
import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseArguments } from "../../../../src/cli/command.ts";
import { PROGRAM_FLAGS } from "../../../../src/cli/demian/flags.ts";
import { readOrder } from "../../../../src/cli/demian/order.ts";
import type { Settings } from "../../../../src/cli/demian/settings.ts";
import { assertDaemonFlags, prepareDriver, toSpawnBody } from "../../../../src/cli/demian/tui/on-daemon.ts";
import { Output } from "../../../../src/cli/output.ts";
import { HttpClient } from "../../../../src/client/index.ts";
import { asDemo } from "../../../../src/runtime/demo/index.ts";
import { loadPreferences } from "../../../../src/runtime/preferences.ts";
import { createRuntime } from "../../../../src/runtime/runtime.ts";
import { getProjectDir } from "../../../../src/runtime/state-dir.ts";
import { startDaemon, type TestDaemon } from "../../../support/daemon.ts";
import { gate } from "../../../support/gate.ts";
import {
  chatReply,
  type ModelServer,
  startModelServer,
  status,
  stuck,
} from "../../../support/model-server.ts";
import { messagesOf } from "../every-terminal.ts";
import { memoryIo } from "../memory-io.ts";
import { World } from "../world.ts";
import { entries, Watcher } from "./watcher.ts";

const given = (args: string[]) => parseArguments(["--daemon", ...args], PROGRAM_FLAGS);

describe("a session of the daemon", () => {
  const settings = (model: string): Settings => ({
    agent: { value: "plan", source: "flag" },
    provider: { value: "other", source: "saved" },
    model: { value: model, source: "config" },
    effort: { value: "", source: "config" },
  });

  test("gets the settings on the screen: agent, provider and model, and its directory and mode", () => {
    const order = readOrder(given(["--multi-agent", "--cwd", "sub"]), "/home/you/project");
    expect(toSpawnBody(order, settings("big"))).toEqual({
      cwd: "/home/you/project/sub",
      model: "other/big",
      options: { mode: "plan", agent_mode: "multi-agent" },
    });
  });

  test("of a provider without a model gets the provider, and the configured agent mode", () => {
    expect(toSpawnBody(readOrder(given([]), "/home/you"), settings(""))).toEqual({
      cwd: "/home/you",
      model: "other",
      options: { mode: "plan" },
    });
  });

  test.each([
    ["--yes"],
    ["--dry-run"],
    ["--image", "a.png"],
    ["--sandbox", "off"],
    ["--config", "c.json"],
    ["--max-turns", "3"],
    ["--no-transcript"],
    ["--plain"],
    ["--json"],
    ["--stdin"],
    ["--trust-project"],
  ])("%s is refused: it needs a runtime in this process", (...args) => {
    const why = `${args[0]} does not work with --daemon`;
    expect(() => assertDaemonFlags(given(args))).toThrow(why);
  });
});

describe("on a daemon", () => {
  const world = new World();
  let daemon: TestDaemon;
  let http: HttpClient;
  let model: ModelServer;
  const close: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    daemon = await startDaemon({ env: { HOME: world.home } });
    http = new HttpClient({ socket: daemon.socket });
  });
  beforeEach(async () => {
    model = await startModelServer();
    world.begin(model.url);
  });
  afterEach(async () => {
    for (const one of close.splice(0).reverse()) await one();
    for (const { session_id } of await http.sessions()) await http.remove(session_id);
    await model.close();
  });
  afterAll(async () => {
    await daemon.close();
    world.remove();
  });

  async function open(args: string[] = [], { socket = daemon.socket, isShown = true, more = {} } = {}) {
    const env = { ...world.env, BLEMEESD_SOCKET: socket, ...more };
    const io = memoryIo({ isTTY: true, env, cwd: world.workspace });
    const output = new Output({ stdout: io.stdout, stderr: io.stderr, env });
    const { driver, runtime } = await prepareDriver(given(args), {
      program: "demian",
      version: "1",
      io,
      output,
      isJson: false,
      daemonProgram: "/nowhere/blemeesd",
      createRuntime: (order) => createRuntime(args.includes("--demo") ? asDemo(order) : order),
    });
    const watcher = new Watcher(driver);
    if (isShown) watcher.start();
    close.push(async () => {
      await driver.close();
      await runtime.close();
    });
    return { driver, watcher };
  }

  const sessions = () => http.sessions();
  const answered = (watcher: Watcher, text: string) =>
    watcher.until((view) =>
      view.session?.turn === undefined && entries(view, "result").length > 0
        ? entries(view, "text").find((entry) => entry.text.includes(text))
        : undefined,
    );

  test("nothing is spawned before the first message, which the chosen provider, model and agent answer", async () => {
    model.script(chatReply("Hello."));
    const { driver, watcher } = await open();
    await watcher.notice(
      /provider local \(config\) · model small \(config\) · agent build[\s\S]*your first message starts the session/,
    );
    await watcher.picker("p").choose("other");
    await watcher.picker("m").choose("huge");
    await watcher.picker("a").choose("plan");
    expect(driver.settings().join(" · ")).toMatch(
      /^provider other \(interactive\) · model huge \(interactive\) · agent plan \(interactive\) · cwd /,
    );
    expect(await sessions()).toEqual([]);
    await driver.send("hi");
    await answered(watcher, "Hello.");
    expect(model.requests[0]?.body).toMatchObject({ model: "huge" });
    expect(await sessions()).toMatchObject([{ session_id: driver.session_id, model: "other/huge" }]);
    expect(watcher.view.entries.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["notice", "user", "text", "result"]),
    );
    expect(driver.settings()).toEqual(["agent plan (interactive)"]);
  });

  test("after the first message nothing can be selected, and the session continues without the screen", async () => {
    model.script(chatReply("Hello."));
    const { driver, watcher } = await open();
    expect([driver.pickers.length, driver.endsWithScreen, driver.requestFocus]).toEqual([3, true, "asked"]);
    const early = watcher.picker("p");
    await driver.send("hi");
    expect([driver.pickers.length, driver.endsWithScreen, driver.requestFocus]).toEqual([0, false, "asked"]);
    const keeps = expect.stringMatching(/keeps its provider, model and agent/);
    await expect(early.choose("other")).rejects.toMatchObject({ message: keeps });
    await expect(driver.send("/provider other")).rejects.toMatchObject({ message: keeps });
    await answered(watcher, "Hello.");
  });

  test("an agent that names a provider selects it", async () => {
    const visible = { visible: ["read_file"] };
    const elsewhere = { description: "Works elsewhere.", mode: "primary", tools: visible, permissions: [] };
    world.begin(model.url, {
      agents: { elsewhere: { ...elsewhere, prompt: { system: "Hi." }, provider: { profile: "other" } } },
    });
    model.script(chatReply("Hello."));
    const { driver, watcher } = await open();
    await watcher.command("/agent", "elsewhere");
    expect(driver.settings().slice(0, 3)).toEqual([
      "provider other (config)",
      "model large (config)",
      "agent elsewhere (interactive)",
    ]);
    await driver.send("hi");
    await answered(watcher, "Hello.");
    expect(model.requests[0]?.body).toMatchObject({ model: "large" });
  });

  test("a choice is remembered once it has answered, and not before", async () => {
    const saved = async () => (await loadPreferences(getProjectDir(world.env, world.workspace))).preferences;
    const choose = async (text: string): Promise<void> => {
      const { driver, watcher } = await open();
      await watcher.picker("p").choose("other");
      await driver.send(text);
      await watcher.turns(1);
      await driver.close();
    };
    model.script(status(401, { error: { message: "bad key" } }));
    await choose("hi");
    expect(await saved()).toEqual({});
    model.script(chatReply("Hello."));
    await choose("again");
    expect(await saved()).toEqual({ provider: "other", model: "large" });
    const again = await open();
    expect(again.driver.settings()[0]).toBe("provider other (saved)");
  });

  test("a message on the command line starts it at once, whatever it looks like", async () => {
    model.script(chatReply("Hello."));
    const { driver, watcher } = await open(["--agent", "plan"], { isShown: false });
    await driver.begin("/what is this");
    expect(await sessions()).toHaveLength(1);
    watcher.start();
    await answered(watcher, "Hello.");
    expect(JSON.stringify(messagesOf(model, 0).at(-1))).toContain("/what is this");
    expect(entries(watcher.view, "notice").map(({ text }) => text)).not.toContainEqual(
      expect.stringMatching(/your first message/),
    );
  });

  test("messages sent while it is being spawned follow in order", async () => {
    model.script(chatReply("one"), chatReply("two"), chatReply("three"));
    const { driver, watcher } = await open();
    await Promise.all([driver.send("first"), driver.send("second"), driver.send("third")]);
    await answered(watcher, "three");
    const said = entries(watcher.view, "user").map(({ text }) => text);
    expect(said).toEqual(["first", "second", "third"]);
    expect(await sessions()).toHaveLength(1);
  });

  test("a failed spawn is reported, leaves nothing behind, and another choice works", async () => {
    world.begin(model.url, { defaultProvider: "locked" });
    model.script(chatReply("Hello."));
    const { driver, watcher } = await open();
    await watcher.notice(/NOT_SET_ANYWHERE[\s\S]*press p to select another provider/);
    const why = { message: expect.stringMatching(/NOT_SET_ANYWHERE/) };
    const both = [driver.send("hi"), driver.send("and this")];
    for (const sent of both) await expect(sent).rejects.toMatchObject(why);
    expect(await sessions()).toEqual([]);
    await watcher.until(({ link }) => (link.state === "live" ? true : undefined));
    await watcher.picker("p").choose("local");
    await driver.send("hi");
    await answered(watcher, "Hello.");
  });

  test("a key that only this shell has is reported as missing in the daemon's environment", async () => {
    const { driver } = await open(["--provider", "locked"], { more: { NOT_SET_ANYWHERE: "k" } });
    await expect(driver.send("hi")).rejects.toMatchObject({
      message: expect.stringMatching(
        /NOT_SET_ANYWHERE.*; it is ready in this shell, but blemeesd has a different environment/,
      ),
    });
  });

  test("a missing directory is reported, and so is a daemon that cannot be started", async () => {
    const { driver } = await open();
    rmSync(world.workspace, { recursive: true });
    await expect(driver.send("hi")).rejects.toMatchObject({
      message: expect.stringMatching(/workspace/),
    });
    world.begin(model.url);
    const away = await open([], { socket: `${world.directory}/none.sock` });
    await expect(away.driver.send("hi")).rejects.toMatchObject({
      message: expect.stringMatching(/no daemon is running, and \/nowhere\/blemeesd is missing/),
    });
    expect(away.driver.pickers).toHaveLength(3);
  });

  test("a provider without a default model needs one before anything is spawned", async () => {
    const { driver, watcher } = await open(["--provider", "bare"]);
    await expect(driver.send("hi")).rejects.toMatchObject({
      message: expect.stringMatching(/no model selected/),
    });
    expect(await sessions()).toEqual([]);
    model.script(chatReply("Hello."));
    await watcher.command("/model", "tiny");
    await driver.send("hi");
    await answered(watcher, "Hello.");
    expect(model.requests[0]?.body).toMatchObject({ model: "tiny" });
  });

  test("leaving before the first message spawns nothing, even after commands", async () => {
    const { driver, watcher } = await open();
    await watcher.command("/compact");
    await watcher.notice(/nothing to compact yet/);
    await watcher.command("/agents");
    await driver.interrupt();
    await expect(driver.send("/compct")).rejects.toMatchObject({
      message: expect.stringMatching(/did you mean \/compact\?/),
    });
    await expect(driver.send("/help")).rejects.toMatchObject({ code: "unknown_command" });
    await driver.close();
    expect([await sessions(), driver.session_id]).toEqual([[], ""]);
    await expect(driver.begin("too late")).rejects.toMatchObject({ code: "session_closed" });
  });

  test("leaving while the session is spawned shows its id", async () => {
    model.script(chatReply("Hello."));
    const { driver } = await open();
    const sent = driver.send("hi");
    await expect.poll(() => driver.isSpawning).toBe(true);
    await driver.close();
    const { session_id } = driver;
    expect(await sessions()).toMatchObject([{ session_id }]);
    await sent;
  });

  test("/compact shortens the history for the model, and its result is shown", async () => {
    const { driver, watcher } = await open();
    for (let n = 1; n <= 8; n += 1) {
      model.script(chatReply(`answer ${n} `.repeat(40)));
      await driver.send(`question ${n}`);
      await watcher.turns(n);
    }
    await watcher.command("/compact");
    const { text } = await answered(watcher, "Compacted");
    expect(text).toMatch(/Compacted \d+ messages into a summary: about \d+ tokens, now \d+/);
    expect(model.requests).toHaveLength(8);
    model.script(chatReply("still here"));
    await driver.send("go on");
    await answered(watcher, "still here");
    const [before, after] = [7, 8].map((at) => messagesOf(model, at));
    expect(after?.length).toBeLessThan(before?.length ?? 0);
    expect(JSON.stringify(after?.[1])).toContain("[Summary of the earlier conversation]");
  });

  test("/compact is refused while a turn runs, and takes no arguments", async () => {
    const more = gate();
    model.script(stuck("thinking", more.passed));
    const { driver, watcher } = await open();
    await driver.send("hi");
    await watcher.until((view) => entries(view, "text").find(({ text }) => text.includes("thinking")));
    await expect(watcher.command("/compact")).rejects.toMatchObject({
      message: "/compact needs an idle session; wait, or press Ctrl-C to interrupt",
    });
    await expect(watcher.command("/compact", "now")).rejects.toMatchObject({ code: "bad_command" });
    more.open();
    await watcher.turns(1);
    expect(driver.commands.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["/compact", "/interrupt", "/queue", "/info"]),
    );
  });

  test("the demo needs no provider", async () => {
    rmSync(world.configFile);
    const { driver, watcher } = await open(["--demo"]);
    await driver.send("hello");
    await watcher.turns(1);
    expect(await sessions()).toMatchObject([{ backend: "demo" }]);
  });
});
