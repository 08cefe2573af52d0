// The table of sessions under races: which client owns a session when several things happen at once.
import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import { silentLog } from "../../src/base/log.ts";
import { drain } from "../../src/sessions/index.ts";
import { Ear, gate, rowOf, settle, stage, user } from "./fakes.ts";

const ann = { id: "ann", peer_pid: 11 };
const bob = { id: "bob", peer_pid: 22 };
const KEEP = { delete: false, deleteTranscript: false };

describe("open", () => {
  test("two simultaneous resumes start one agent; the later one owns the session", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const first = open(ann, { resume: true });
    const second = open(bob, { resume: true });
    await settle();
    go();
    const [annEar] = await Promise.all([first, second]);
    expect(backend.runs).toHaveLength(1);
    expect(annEar.heard).toEqual([{ type: "taken", by_peer_pid: 22 }]);
    expect(hub.sessions[0]?.owner).toBe(bob);
  });

  test("two simultaneous fresh opens of one id: one opens, the other gets session_exists", async () => {
    const { backend, open } = stage();
    const results = await Promise.allSettled([open(ann), open(bob)]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
    expect(results[1]).toMatchObject({ reason: { code: "session_exists" } });
    expect(backend.runs).toHaveLength(1);
  });

  test("an open that fails leaves no id: the next one is fresh", async () => {
    const { hub, backend, open } = stage();
    backend.failing = new CodedError("spawn_failed", "no such program");
    await expect(open(ann)).rejects.toMatchObject({ code: "spawn_failed" });
    expect(hub.counts().total).toBe(0);
    backend.failing = undefined;
    await open(ann);
    expect(hub.counts().total).toBe(1);
  });

  test("a takeover whose agent cannot start takes nothing from the owner", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    backend.last.end(false, 1);
    await settle();
    backend.failing = new CodedError("spawn_failed", "gone");
    await expect(open(bob, { resume: true })).rejects.toMatchObject({ code: "spawn_failed" });
    expect(hub.sessions[0]?.owner).toBe(ann);
    expect(ear.of("taken")).toEqual([]);
  });

  test("a message sent right after an open waits for it", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const opening = open(ann);
    const sending = hub.send(ann, "s", user("hi"));
    await settle();
    go();
    await Promise.all([opening, sending]);
    expect(backend.last.sent).toEqual([user("hi")]);
  });

  test("a close sent right after an open waits for it and closes", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const opening = open(ann);
    const closing = hub.close(ann, "s", KEEP);
    await settle();
    go();
    await Promise.all([opening, closing]);
    expect(hub.counts().total).toBe(0);
    expect(backend.alive).toEqual([]);
  });

  test("an open sent right after a close waits for it and gets a fresh agent", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    const closing = hub.close(ann, "s", KEEP);
    const opening = open(ann, { resume: true });
    await Promise.all([closing, opening]);
    expect(backend.runs).toHaveLength(2);
    expect(hub.sessions.map((session) => session.owner)).toEqual([ann]);
  });

  test("the limit counts opens in progress", async () => {
    const { hub, open } = stage({ limits: { maxSessions: 2, maxSessionsPerClient: 32 } });
    const ids = ["a", "b", "c", "d"];
    const results = await Promise.allSettled(ids.map((session_id) => open(ann, { session_id })));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(2);
    expect(hub.counts().total).toBe(2);
  });
});

describe("a client that disconnects during its open", () => {
  test("a new session is not left without an owner forever", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const client = { id: "cut", isGone: false };
    const opening = open(client).catch(() => undefined);
    await settle();
    client.isGone = true;
    hub.detach(client);
    go();
    await opening;
    await settle();
    expect(hub.counts().attached).toBe(0);
    expect(backend.alive).toEqual([]);
  });

  test("it is not left as a watcher either", async () => {
    const { hub, open } = stage();
    await open(ann);
    const client = { id: "cut", isGone: true };
    await expect(hub.watch(client, new Ear(), "s", undefined)).rejects.toMatchObject({
      code: "session_unknown",
    });
    expect(hub.sessions[0]?.stream.feeds.size).toBe(1);
  });

  test("it takes nothing from the owner", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    backend.last.end(false, 1);
    await settle();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const client = { id: "cut", isGone: false };
    const opening = open(client, { resume: true }).catch(() => undefined);
    await settle();
    client.isGone = true;
    hub.detach(client);
    go();
    await opening;
    await settle();
    expect(hub.sessions[0]?.owner).toBe(ann);
    expect(ear.of("taken")).toEqual([]);
  });

  test("the daemon stops and no agent is left", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const client = { id: "cut", isGone: false };
    const opening = open(client).catch(() => undefined);
    await settle();
    client.isGone = true;
    hub.detach(client);
    const stopping = drain(hub, 0, new AbortController().signal, silentLog);
    await settle();
    go();
    await Promise.all([opening, stopping]);
    expect(backend.alive).toEqual([]);
  });
});

describe("the reaper", () => {
  test("forgets sessions without an owner for the whole time, and their agents", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    hub.detach(ann);
    expect(await hub.reap(1000, Date.now())).toBe(0);
    expect(await hub.reap(1000, Date.now() + 2000)).toBe(1);
    expect(hub.counts().total).toBe(0);
    expect(backend.alive).toEqual([]);
  });

  test("leaves an agent alone that works in the background, and counts from the end of that work", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    await hub.send(ann, "s", user("go"));
    const { last } = backend;
    last.isBusy = true;
    last.result();
    hub.detach(ann);
    await settle();
    expect(await hub.reap(1000, Date.now() + 1_000_000)).toBe(0);
    expect(backend.alive).toEqual([last]);
    last.isBusy = false;
    last.event({ type: "agent.notice", level: "info", category: "background_over" });
    await settle();
    expect(await hub.reap(1000, Date.now())).toBe(0);
    expect(await hub.reap(1000, Date.now() + 2000)).toBe(1);
    expect(backend.alive).toEqual([]);
  });

  test("ends a turn that exceeds the time with a notice, then its result", async () => {
    const { hub, backend, store, open } = stage();
    await open(ann);
    await hub.send(ann, "s", user("go"));
    backend.last.event({ type: "agent.system_init", model: "m" });
    hub.detach(ann);
    expect(await hub.reap(1000, Date.now() + 2000)).toBe(1);
    const frames = store.log.flatMap(({ bytes }) => Buffer.from(bytes).toString().trimEnd().split("\n"));
    expect(frames.slice(-2).map((line) => JSON.parse(line))).toMatchObject([
      { type: "agent.notice", level: "warn", category: "idle_timeout" },
      { type: "agent.result", subtype: "interrupted" },
    ]);
  });

  test("leaves a session alone that is being reopened at that moment", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    hub.detach(ann);
    await settle();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const opening = open(bob, { resume: true });
    await settle();
    const reaping = hub.reap(0, Date.now() + 1000);
    await settle();
    go();
    await Promise.all([opening, reaping]);
    expect(hub.sessions[0]?.owner).toBe(bob);
    expect(backend.alive).toHaveLength(1);
  });
});

describe("an agent that does not read its input", () => {
  test("close ends it anyway", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    const { open: go, passed } = gate();
    backend.last.stuck = passed;
    const { stop } = backend.last;
    backend.last.stop = async (how) => {
      go(); // a dead process breaks the pipe
      await stop.call(backend.last, how);
    };
    const sending = hub.send(ann, "s", user("a lot"));
    await settle();
    await hub.close(ann, "s", KEEP);
    await sending;
    expect(backend.alive).toEqual([]);
    expect(ear.of("agent.result")).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("an interrupt gets through", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    const { open: go, passed } = gate();
    backend.last.stuck = passed;
    void hub.send(ann, "s", user("a lot"));
    await settle();
    const acks: boolean[] = [];
    await hub.interrupt(ann, "s", (was_idle) => acks.push(was_idle));
    expect(acks).toEqual([false]);
    go();
  });
});

describe("interrupt", () => {
  test("one that is sent right after a message stops that message's turn", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    const acks: boolean[] = [];
    const sending = hub.send(ann, "s", user("long work"));
    const interrupting = hub.interrupt(ann, "s", (was_idle) => acks.push(was_idle));
    await Promise.all([sending, interrupting]);
    await settle();
    expect(acks).toEqual([false]);
    expect(backend.last.calls).toContain("interrupt");
    expect(ear.of("agent.result")).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("so does one that is sent right after an open and its message", async () => {
    const { hub, backend, open } = stage();
    const { open: go, passed } = gate();
    backend.slow = passed;
    const acks: boolean[] = [];
    const opening = open(ann);
    const sending = hub.send(ann, "s", user("long work"));
    const interrupting = hub.interrupt(ann, "s", (was_idle) => acks.push(was_idle));
    await settle();
    go();
    const [ear] = await Promise.all([opening, sending, interrupting]);
    await settle();
    expect(acks).toEqual([false]);
    expect(ear.of("agent.result")).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("a second one during the first is acknowledged and changes nothing", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    await hub.send(ann, "s", user("work"));
    const acks: boolean[] = [];
    const note = (was_idle: boolean) => void acks.push(was_idle);
    await Promise.all([hub.interrupt(ann, "s", note), hub.interrupt(ann, "s", note)]);
    await settle();
    expect(acks).toEqual([false, false]);
    expect(backend.last.calls.filter((call) => call === "interrupt")).toHaveLength(1);
    expect(ear.of("agent.result")).toHaveLength(1);
  });
});

describe("a turn", () => {
  test("events of a replaced agent are not attributed to the new one", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    const dead = backend.last;
    dead.end(false, 1);
    await hub.send(ann, "s", user("again"));
    dead.say("from the grave");
    dead.result();
    backend.last.say("alive");
    backend.last.result();
    await settle();
    expect(ear.of("agent.delta").map((frame) => frame["text"])).toEqual(["alive"]);
    expect(ear.of("agent.result")).toHaveLength(1);
  });

  test("after a reattach in the middle of it, the agent stays alive after the result", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    await hub.send(ann, "s", user("work"));
    hub.detach(ann);
    await open(bob, { resume: true });
    backend.last.result();
    await settle();
    expect(backend.last.calls).toEqual([]);
    expect(backend.alive).toHaveLength(1);
  });

  test("without an owner it continues to its result, then the agent may close on its own", async () => {
    const { hub, backend, open } = stage();
    await open(ann);
    await hub.send(ann, "s", user("work"));
    hub.detach(ann);
    await settle();
    expect(backend.last.calls).toEqual([]);
    backend.last.result();
    await settle();
    expect(backend.last.calls).toEqual(["stop finish"]);
  });

  test("an owner that cannot read pauses the agent; a watcher does not", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    const watcher = new Ear();
    const { attachment } = await hub.watch(bob, watcher, "s", undefined);
    attachment.start();
    await hub.send(ann, "s", user("work"));
    watcher.full = true;
    backend.last.say("a");
    await settle();
    expect(backend.last.calls).toEqual([]);
    ear.full = true;
    backend.last.say("b");
    await settle();
    expect(backend.last.calls).toEqual(["pause"]);
    hub.detach(ann); // the stalled owner leaves: the turn must not hang forever
    expect(backend.last.calls).toEqual(["pause", "resume"]);
  });

  test("a takeover from an owner that cannot read resumes the agent", async () => {
    const { hub, backend, open } = stage();
    const ear = await open(ann);
    await hub.send(ann, "s", user("work"));
    ear.full = true;
    backend.last.say("a");
    await settle();
    const bobEar = await open(bob, { resume: true, last_seen_seq: 0 });
    expect(backend.last.calls).toEqual(["pause", "resume"]);
    backend.last.result();
    await settle();
    expect(bobEar.of("agent.result")).toHaveLength(1);
    expect(ear.of("agent.result")).toHaveLength(0);
  });
});

test("a session that is closed during a tool call shows the call closed before its result", async () => {
  const on = stage();
  const ear = await on.open(ann);
  await on.hub.send(ann, "s", user("go"));
  on.backend.last.event({ type: "agent.tool_use", tool_use_id: "t1", name: "shell", input: {} });
  await on.hub.close(ann, "s", { delete: false, deleteTranscript: false });
  const types = ear.heard.map(({ type }) => type);
  expect(types.slice(-3)).toEqual(["agent.tool_use", "agent.tool_result", "agent.result"]);
});

test("an agent whose sub-agents continue after its turn is not ended when its owner leaves", async () => {
  const on = stage();
  await on.open(ann);
  Object.assign(on.backend.last, { isBusy: true });
  on.hub.detach(ann);
  await settle();
  expect(on.backend.last.calls).toEqual([]);
});

test("the start of a turn is a sign of life", async () => {
  const on = stage();
  await on.open(ann);
  expect(on.hub.table.session("s").last_event_at_ms).toBeUndefined();
  await on.hub.send(ann, "s", user("hello"));
  expect(on.hub.table.session("s").last_event_at_ms).toBe(on.hub.table.session("s").row.turn?.started_at_ms);
});

test("a conversation that the agent lists under its own id is listed under ours", async () => {
  const on = stage();
  on.store.saved.set("ours", rowOf("ours", { native_session_id: "native", title: "hello" }));
  Object.assign(on.backend, {
    listTranscripts: async () => [
      { session_id: "native", backend: "fake", attached: false, preview: "hello" },
      { session_id: "foreign", backend: "fake", attached: false },
    ],
  });
  expect(await on.hub.list({})).toMatchObject([
    { session_id: "ours", native_session_id: "native", preview: "hello" },
    { session_id: "foreign" },
  ]);
});
