// Sessions that were started outside: listed, read, and continued as sessions, with a fake agent's transcripts.
import { expect, test } from "vitest";
import type { Caller } from "../../../src/sessions/index.ts";
import { FakeBackend, settle, user } from "../fakes.ts";
import { runOf, spawn, type World, world } from "../system.ts";
import { answered, DONE, FakeTranscripts, said } from "./fake-transcripts.ts";

const AGENT: Caller = { actor: "agent:a", isAgent: true, isProven: true, peer_pid: 7, wire: "http" };

interface Outside extends World {
  files: FakeTranscripts;
}

async function outside(over: Parameters<typeof world>[0] = {}): Promise<Outside> {
  const backend = Object.assign(new FakeBackend(), { transcripts: new FakeTranscripts() });
  const on = await world({ ...over, backends: [backend] });
  return { ...on, backend, files: backend.transcripts };
}

const idsOf = async (on: Outside, filter: object = {}) =>
  (await on.transcripts.list({ limit: 100, ...filter })).transcripts.map(({ session_id }) => session_id);
const adopt = (on: Outside, transcript: string, more: object = {}) =>
  on.manager.spawn({ backend: "fake", transcript, ...more });

test("they are listed newest first, in pages, without sessions of ours and without what is no conversation", async () => {
  const on = await outside();
  for (const [at, id] of ["t1", "t2", "t3", "t4", "ours"].entries()) on.files.put(id, [], {}, 1_000 + at);
  on.files.put("sub", [], { isOther: true } as object, 2_000);
  await spawn(on, "ours");
  const first = await on.transcripts.list({ limit: 3 });
  expect(first.transcripts.map(({ session_id }) => session_id)).toEqual(["t4", "t3", "t2"]);
  expect(first.transcripts[0]).toMatchObject({
    backend: "fake",
    cwd: "/srv/app",
    project: "/srv/app",
    title: "hello",
    last_active_at_ms: 1_003_000,
  });
  const second = await on.transcripts.list({ limit: 3, after: first.next ?? "" });
  expect(second.transcripts.map(({ session_id }) => session_id)).toEqual(["t1"]);
  expect(second).not.toHaveProperty("next");
  await expect(on.transcripts.list({ limit: 3, after: "x" })).rejects.toMatchObject({
    code: "invalid_message",
  });
});

test("they are filtered by project, age and prefix", async () => {
  const on = await outside();
  on.files.put("a1", [], { cwd: "/srv/app" }, 1_000);
  on.files.put("a2", [], { cwd: "/srv/other" }, 2_000);
  on.files.put("b1", [], { cwd: "/srv/app" }, 3_000);
  expect(await idsOf(on, { project: "app" })).toEqual(["b1", "a1"]);
  expect(await idsOf(on, { project: "/srv/other" })).toEqual(["a2"]);
  expect(await idsOf(on, { active_after_ms: 2_000_000 })).toEqual(["b1", "a2"]);
  expect(await idsOf(on, { active_before_ms: 2_000_000 })).toEqual(["a1"]);
  expect(await idsOf(on, { prefix: "a" })).toEqual(["a2", "a1"]);
  await expect(idsOf(on, { backend: "none" })).rejects.toMatchObject({ code: "unknown_backend" });
});

test("a list of thousands opens only the files of its page, each once", async () => {
  const on = await outside();
  for (let n = 0; n < 300; n += 1) on.files.put(`t${n}`, [], {}, 1_000 + n);
  await on.transcripts.list({ limit: 20 });
  expect(on.files.described.length).toBeLessThanOrEqual(32);
  const opened = on.files.described.length;
  await on.transcripts.list({ limit: 20 });
  expect({ opened: on.files.described.length, lists: on.files.lists }).toEqual({ opened, lists: 1 });
});

test("one is read in pages and from its end; a turn that is left open is ended without a seq", async () => {
  const on = await outside();
  on.files.put("t", [said("one"), answered("1"), DONE, said("two"), answered("2")]);
  const read = (order: object) =>
    on.transcripts.events("t", { since_seq: 0, limit: 2, isTail: false, ...order });
  const first = await read({});
  expect(first).toMatchObject({ next_seq: 2, is_end: false, events: [{ seq: 1 }, { seq: 2 }] });
  expect(first.events[0]).toMatchObject({
    session_id: "t",
    timestamp_ms: 0,
    type: "agent.user_echo",
    preview: "one",
    frame: { session_id: "t", seq: 1, message: { content: "one" } },
  });
  expect((await read({ since_seq: 2 })).events.map(({ preview }) => preview)).toEqual(["success", "two"]);
  const last = await read({ since_seq: 4 });
  expect(last).toMatchObject({ next_seq: 5, is_end: true });
  expect(last.events).toMatchObject([
    { seq: 5 },
    { seq: null, persisted: false, frame: { subtype: "interrupted" } },
  ]);
  const tail = await read({ isTail: true });
  expect(tail.events.map(({ seq }) => seq)).toEqual([4, 5, null]);
  await expect(
    on.transcripts.events("none", { since_seq: 0, limit: 1, isTail: false }),
  ).rejects.toMatchObject({
    code: "transcript_unknown",
  });
});

test("a session that continues one has its id, directory and history, and resumes the agent's conversation", async () => {
  const on = await outside();
  on.files.put("t", [said("one"), answered("1")], { model: "m-1" });
  const { session } = await adopt(on, "t", { message: user("go on"), name: "mine" });
  expect(session).toMatchObject({
    session_id: "t",
    cwd: "/srv/app",
    model: "m-1",
    title: "hello",
    name: "mine",
  });
  await settle();
  expect(runOf(on, "t").order).toMatchObject({ resume: true, native_session_id: "t", began_here: false });
  expect(runOf(on, "t").sent).toEqual([user("go on")]);
  const { events } = await on.manager.events({ session_id: "t", since_seq: 0, limit: 100, waitMs: 0 });
  expect(events.slice(0, 4).map(({ preview }) => preview)).toEqual([
    "one",
    "1",
    "interrupted",
    expect.stringContaining("continues a conversation that was started outside"),
  ]);
  expect(await idsOf(on)).toEqual([]);
  await expect(adopt(on, "t")).rejects.toMatchObject({ code: "session_exists" });
});

test("of a long conversation the newest events are copied, and the rest is counted", async () => {
  const on = await outside();
  const many = Array.from({ length: 5_100 }, (_, n) => said(String(n)));
  on.files.put("t", many);
  await adopt(on, "t");
  await settle();
  const { events } = await on.manager.events({ session_id: "t", since_seq: 0, limit: 1, waitMs: 0 });
  expect(events[0]).toMatchObject({ preview: "100" });
  const notice = await on.manager.events({ session_id: "t", since_seq: 5_001, limit: 1, waitMs: 0 });
  expect(notice.events[0]?.frame["data"]).toMatchObject({ events: 5_000, omitted: 100 });
});

test.each([
  ["an unknown id", "none", {}, "transcript_unknown"],
  ["one that another process has open", "open", {}, "transcript_in_use"],
  ["a directory", "t", { cwd: "/x" }, "invalid_message"],
  ["a directory among the options", "t", { options: { cwd: "/x" } }, "invalid_message"],
  ["another id", "t", { session_id: "s" }, "invalid_message"],
  ["a worktree", "t", { worktree: {} }, "invalid_message"],
])("%s: one error, and nothing is left", async (_what, id, more, code) => {
  const on = await outside();
  on.files.put("t", [said("one")]);
  on.files.put("open", [said("one")]);
  on.files.pids.set("open", process.pid);
  await expect(adopt(on, id, more)).rejects.toMatchObject({ code });
  expect([on.store.saved.size, on.store.log.length, on.backend.runs.length]).toEqual([0, 0, 0]);
});

test("if the agent does not start, the conversation is still outside", async () => {
  const on = await outside();
  on.files.put("t", [said("one")]);
  on.backend.failing = new Error("no");
  await expect(adopt(on, "t")).rejects.toThrow();
  await settle();
  expect([on.store.saved.size, on.store.log.length]).toEqual([0, 0]);
  expect(await idsOf(on)).toEqual(["t"]);
});

test("agents may not continue one, unless they may see all; then not with more rights than their own", async () => {
  for (const agentsSee of ["subtree", "all"] as const) {
    const on = await outside({ agentsSee });
    on.files.put("t", [said("one")]);
    await spawn(on, "a", { cwd: "/srv/app" });
    const manager = on.manager.as(AGENT);
    if (agentsSee === "subtree") {
      expect(() => manager.requireSight("read conversations from outside")).toThrow(
        expect.objectContaining({ code: "not_allowed" }),
      );
      await expect(manager.spawn({ backend: "fake", transcript: "t" })).rejects.toMatchObject({
        code: "not_allowed",
      });
    } else {
      manager.requireSight("read conversations from outside");
      const wide = { backend: "fake", transcript: "t", may_answer: true };
      await expect(manager.spawn(wide)).rejects.toMatchObject({ code: "escalation" });
      expect((await manager.spawn({ backend: "fake", transcript: "t" })).session.parent).toBe("a");
    }
  }
});
