// How an ACP agent's session is opened: new, resumed, loaded or started over; its settings; and its errors.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startBackend } from "../conformance.ts";
import { type FakeAgent, fakeAgent, fakeHome, noticesOf, type Setup, say } from "./fake.ts";

/** A conversation of one turn in a first process, and another backend in the same home. */
async function continued(setup: Setup, over: Parameters<typeof fakeAgent>[1] = {}) {
  const home = fakeHome();
  const first = fakeAgent(setup, { home, ...over });
  const { run, sink } = await first.start();
  await say({ run, sink, order: {} as never }, "#say first");
  const id = sink.heard.flatMap((heard) => (heard.kind === "nativeId" ? [heard.id] : [])).at(-1) ?? "";
  await run.stop("finish");
  return { id, agent: fakeAgent(setup, { home, ...over }) };
}

const methodsOf = (agent: FakeAgent) => agent.heard().flatMap(({ method }) => method ?? []);

describe("an earlier conversation", () => {
  test("is resumed where the agent offers it", async () => {
    const { agent, id } = await continued({});
    const session = await agent.start({}, { resume: true, native_session_id: id });
    expect(await say(session, "#history")).toBe('["#say first","#history"]');
    expect(methodsOf(agent)).toContain("session/resume");
    expect(noticesOf(session, "session_lost")).toEqual([]);
  });

  test.each([
    ["before its answer", {}],
    ["after its answer", { fault: "late-replay" }],
  ])("is loaded otherwise, and what the agent repeats %s is dropped", async (_when, fault) => {
    const { agent, id } = await continued({ can: ["load"], ...fault });
    const session = await agent.start({}, { resume: true, native_session_id: id });
    expect(await say(session, "#history")).toBe('["#say first","#history"]');
    expect(JSON.stringify(session.sink.events)).not.toContain("REPLAY");
    // Anything that is not a repetition is kept.
    expect(noticesOf(session, "available_commands")).toMatchObject([
      { data: { commands: [{ name: "loaded" }] } },
    ]);
  });

  test.each([
    ["the agent has forgotten", {}],
    ["no agent of its kind could continue", { can: [] }],
  ])("that %s starts over with a notice, if it began here", async (_why, setup) => {
    const agent = fakeAgent(setup);
    const session = await agent.start({}, { resume: true, native_session_id: "gone" });
    expect(noticesOf(session, "session_lost")).toMatchObject([{ level: "warn" }]);
    expect(await say(session, "#say anew")).toBe("anew");
  });

  test("that did not begin here and is not found is an error with the agent's own message", async () => {
    const order = { resume: true, began_here: false, native_session_id: "gone" };
    await expect(fakeAgent().start({}, order)).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining("Session not found"),
    });
  });

  test("waits for the next minute if a load in the minute of its creation would destroy it", async () => {
    const slept: number[] = [];
    let now = 1_800_000_010_000;
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        slept.push(ms);
        now += ms;
      },
    };
    const over = { host: { clock } };
    const { agent, id } = await continued({ can: ["load"], name: "gemini-cli" }, over);
    const session = await agent.start({}, { resume: true, native_session_id: id });
    expect(slept[0]).toBe(60_000 - (1_800_000_010_000 % 60_000) + 500);
    expect(noticesOf(session, "resume_waits")).toHaveLength(1);
  });

  test.each([
    ["long before this minute", 130_000, 0],
    ["before this minute, but its slow agent perhaps in it", 15_000, 1],
    ["in this minute", 5000, 1],
  ])("that an earlier daemon began %s: does it wait?", async (_, agoMs, waits) => {
    const now = 1_800_000_010_000;
    const slept: number[] = [];
    const clock = { now: () => now, sleep: async (ms: number) => void slept.push(ms) };
    const agent = fakeAgent({ can: ["load"], name: "gemini-cli" }, { host: { clock } });
    const order = { resume: true, native_session_id: "old", started_at_ms: now - agoMs };
    const session = await agent.start({}, order);
    expect(noticesOf(session, "resume_waits")).toHaveLength(waits);
  });
});

describe("model, mode and settings", () => {
  test.each(["all", "options", "plain"])("are set in the agent's own format: %s", async (shape) => {
    const session = await fakeAgent({ shape }).start({ model: "large", mode: "auto" });
    expect(JSON.parse((await say(session, "#settings")) ?? "")).toMatchObject({
      model: "large",
      mode: "auto",
    });
    expect(session.sink.events[0]).toMatchObject({
      type: "agent.system_init",
      model: "large",
      capabilities: { mode: "auto", version: "1.2.3" },
    });
  });

  test("of the configuration are the default of a session that sets none; booleans stay booleans", async () => {
    const agent = fakeAgent({}, { spec: { mode: "auto", config: { extra: "on", fast: true } } });
    expect(JSON.parse((await say(await agent.start(), "#settings")) ?? "")).toMatchObject({
      mode: "auto",
      extra: "on",
      fast: true,
    });
    const other = await agent.start({ mode: "ask", config: { extra: "off" } });
    expect(JSON.parse((await say(other, "#settings")) ?? "")).toMatchObject({
      mode: "ask",
      extra: "off",
      fast: true,
    });
  });

  test.each([
    [{ model: "huge" }, {}, '/options/fake/model: no model "huge"; the agent offers small, large'],
    [{ mode: "yolo" }, { shape: "none" }, "the agent does not let clients choose a mode"],
    [
      { config: { nope: "1" } },
      {},
      "/options/fake/config/nope: unknown option; it has mode, model, extra, fast",
    ],
    [{ config: { fast: "yes" } }, {}, "/options/fake/config/fast: expected true or false"],
    // This model removes the option.
    [{ model: "large", config: { extra: "on" } }, {}, "/options/fake/config/extra: unknown option"],
    [{ config: { extra: "on" } }, { fault: "refuse-extra" }, "fake refused it: extra not found: on"],
  ])("%o that cannot be set is an error that lists what can", async (options, setup, message) => {
    await expect(fakeAgent(setup).start(options)).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining(message),
    });
  });
});

describe("cwd", () => {
  test("must be absolute, must exist, and must be inside what the configuration allows", async () => {
    const home = fakeHome();
    const inside = join(home.cwd, "sub");
    mkdirSync(inside);
    const agent = fakeAgent({}, { home, spec: { cwdWithin: [home.cwd] } });
    expect(() => agent.backend.checkOptions({ cwd: "sub" })).toThrow(/expected an absolute path/);
    await expect(agent.start({ cwd: "/no/such/dir" })).rejects.toMatchObject({ code: "spawn_failed" });
    await expect(agent.start({ cwd: home.home })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining("cwd_within"),
    });
    const session = await agent.start({ cwd: inside });
    expect(JSON.parse((await say(session, "#settings")) ?? "")).toMatchObject({ cwd: inside });
  });

  test("is the configured one when the session names none", async () => {
    const home = fakeHome();
    const { backend } = fakeAgent({}, { home, spec: { cwd: home.cwd } });
    const session = await startBackend({ backend, options: {} });
    expect(JSON.parse((await say(session, "#settings")) ?? "")).toMatchObject({ cwd: home.cwd });
    await session.run.stop("now");
  });
});

describe("an agent that does not start", () => {
  test.each([
    [{ fault: "mute" }, "no answer to initialize"],
    [{ fault: "no-init" }, "no home directory"],
    [{ protocolVersion: 2 }, "version 2 of ACP"],
    [{ fault: "mute-new" }, "no answer to session/new"],
    [{ fault: "auth" }, "log in with its own program (methods: an API key)"],
  ])("%o reports the reason, and leaves no process", async (setup, message) => {
    const limits = { openMs: 300, graceMs: 300 };
    const agent = fakeAgent(setup, { spec: { handshakeMs: 500 }, host: { limits } });
    await expect(agent.start()).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining(message),
    });
    await agent.backend.close?.();
  });
});

test("the client capabilities are exactly those that agents were seen to handle", async () => {
  const agent = fakeAgent();
  await agent.start();
  expect(agent.heard()[0]?.params).toMatchObject({
    protocolVersion: 1,
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
      elicitation: { form: {} },
      _meta: { demian: { events: true, notices: true } },
    },
  });
});

test("a session that must prove who it is has a process of its own; ours is sent its settings nevertheless", async () => {
  const agent = fakeAgent({}, { spec: { process: "shared", isOurs: true } });
  const [shared, own] = [
    await agent.start({ mode: "plan" }),
    await agent.start({ mode: "plan" }, { own_process: true }),
  ];
  expect(own.run.pid).not.toBe(shared.run.pid);
  expect([shared, own].map(({ run }) => run.traces?.isShared)).toEqual([true, false]);
  const metas = agent
    .heard()
    .flatMap(({ method, params }) => (method === "session/new" ? [params?.["_meta"]] : []));
  const env = { BLEMEES_RUN_ID: shared.run.traces?.markers[0] };
  expect(metas).toEqual([{ blemees: { env, mode: "plan" } }, { blemees: { mode: "plan" } }]);
});
