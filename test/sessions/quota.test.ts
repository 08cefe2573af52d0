// Sessions that wait for the reset of a limit, in the whole sessions layer with a scripted agent.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OnLimit } from "../../src/protocol/quota.ts";
import { settle } from "./fakes.ts";
import { runOf, spawn, textsOf, type World, world } from "./system.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 5, 12);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

const create = (onLimit: OnLimit = "wait", maxWaitMs = 24 * HOUR) => world({ quota: { onLimit, maxWaitMs } });

/** The agent reports that its 5-hour window is exhausted, and the turn ends by it. */
function limit(on: World, id: string, resets_at_ms: number | null = Date.now() + HOUR): void {
  const { sink } = runOf(on, id);
  if (resets_at_ms !== null) report(on, id, { window: "5h", resets_at_ms, status: "rejected" });
  const error = { code: "rate_limited", message: "the limit is reached" };
  sink.event({ type: "agent.result", backend: "fake", subtype: "error", error });
}

function report(on: World, id: string, reported: object): void {
  const data = { limit: reported };
  runOf(on, id).sink.event({
    type: "agent.notice",
    backend: "fake",
    level: "info",
    category: "rate_limits",
    data,
  });
}

const succeed = (on: World, id: string) =>
  runOf(on, id).sink.event({ type: "agent.result", backend: "fake", subtype: "success" });

/** Lets the time pass, and everything that it leads to. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle(8);
  await vi.advanceTimersByTimeAsync(1);
  await settle(8);
}

const show = (on: World, id: string) => on.manager.view(id);

test("a message whose turn ended by a limit is delivered once more, after the reset and not before", async () => {
  const on = await create();
  await spawn(on, "a");
  await settle();
  const message_id = (await on.manager.queue("a")).recent[0]?.message_id;
  limit(on, "a");
  await settle(8);
  const waiting = await show(on, "a");
  expect(waiting).toMatchObject({
    activity_state: "waiting_quota",
    queued: 1,
    quota_wait: { until_ms: START + HOUR, window: "5h" },
    last_result: { subtype: "error", error: { code: "rate_limited" } },
  });
  expect((await on.manager.queue("a")).queued[0]?.message_id).toBe(message_id);
  await pass(HOUR - 1_000);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
  await pass(60_000);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "do a"]);
  succeed(on, "a");
  await settle(8);
  const done = await show(on, "a");
  expect(done).toMatchObject({ activity_state: "idle", queued: 0 });
  expect(done.quota_wait).toBeUndefined();
  expect((await on.manager.queue("a")).recent[0]).toMatchObject({ message_id, state: "done" });
});

test("the message goes in front of those that were queued behind it", async () => {
  const on = await create();
  await spawn(on, "a");
  await settle();
  await on.manager.input({ session_id: "a", message: { role: "user", content: "second" } });
  limit(on, "a");
  await settle(8);
  const { queued } = await on.manager.queue("a");
  expect(queued.map(({ message }) => message.content)).toEqual(["do a", "second"]);
});

test("sessions that do not wait keep their error: set to fail, or turned off for all", async () => {
  const on = await create("fail");
  await spawn(on, "a");
  const off = await create("wait", 0);
  await spawn(off, "b", { on_limit: "wait" });
  await settle();
  limit(on, "a");
  limit(off, "b");
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle", failed: true, queued: 0 });
  expect(await show(off, "b")).toMatchObject({ activity_state: "idle", failed: true, queued: 0 });
});

test("other failures are not waited for", async () => {
  const on = await create();
  await spawn(on, "a");
  await settle();
  const error = { code: "overloaded", message: "busy" };
  runOf(on, "a").sink.event({ type: "agent.result", backend: "fake", subtype: "error", error });
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle", failed: true, queued: 0 });
});

test("a person is asked once: the answer holds for the session's next limits", async () => {
  const on = await create("ask");
  await spawn(on, "a");
  await settle();
  limit(on, "a");
  await settle(12);
  const [request] = (await on.manager.requests({})).requests;
  expect(request).toMatchObject({ request_type: "quota", session_id: "a", status: "pending" });
  expect(await show(on, "a")).toMatchObject({
    activity_state: "waiting_quota",
    quota_wait: { asks: true },
    pending_requests: 1,
  });
  // Nobody has answered.
  await pass(2 * HOUR);
  expect(textsOf(runOf(on, "a"))).toHaveLength(1);
  const order = { session_id: "a", request_id: request?.request_id ?? "", source: "http" as const };
  await on.manager.respond({ ...order, answer: { decision: "accept" } });
  await pass(60_000);
  expect(textsOf(runOf(on, "a"))).toHaveLength(2);
  expect(await show(on, "a")).toMatchObject({ on_limit: "wait" });
  limit(on, "a");
  await settle(12);
  expect((await on.manager.requests({})).requests).toEqual([]);
  expect((await show(on, "a")).quota_wait).toMatchObject({ until_ms: Date.now() + HOUR });
});

test("a person who declines: the message has failed with the limit's error, and later ones do not wait", async () => {
  const on = await create("ask");
  await spawn(on, "a");
  await settle();
  limit(on, "a");
  await settle(12);
  const [request] = (await on.manager.requests({})).requests;
  const order = { session_id: "a", request_id: request?.request_id ?? "", source: "http" as const };
  await on.manager.respond({ ...order, answer: { decision: "decline" } });
  await settle(12);
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle", failed: true, on_limit: "fail" });
  expect((await on.manager.queue("a")).recent[0]).toMatchObject({
    state: "failed",
    error: { code: "rate_limited" },
  });
});

test("of the sessions that wait for one window, one goes first, and the others follow when it has succeeded", async () => {
  const on = await create();
  for (const id of ["a", "b", "c"]) await spawn(on, id);
  await settle();
  const resets = Date.now() + HOUR;
  for (const id of ["a", "b", "c"]) limit(on, id, resets);
  const given = () => ["a", "b", "c"].filter((id) => textsOf(runOf(on, id)).length > 1);
  await pass(2 * HOUR);
  const [first = ""] = given();
  expect(given()).toHaveLength(1);
  await pass(HOUR);
  expect(given()).toEqual([first]);
  succeed(on, first);
  await pass(1_000);
  expect(given()).toHaveLength(3);
});

test("if the first one finds the window exhausted again, nobody follows before the next reset", async () => {
  const on = await create();
  for (const id of ["a", "b"]) await spawn(on, id);
  await settle();
  const resets = Date.now() + HOUR;
  for (const id of ["a", "b"]) limit(on, id, resets);
  await pass(HOUR + 60_000);
  const first = textsOf(runOf(on, "a")).length > 1 ? "a" : "b";
  const other = first === "a" ? "b" : "a";
  limit(on, first, Date.now() + HOUR);
  await pass(HOUR - 60_000);
  expect(textsOf(runOf(on, other))).toHaveLength(1);
  await pass(HOUR);
  expect(textsOf(runOf(on, "a")).length + textsOf(runOf(on, "b")).length).toBe(4);
});

test("the quota is read before a session continues, and it waits on while that is exhausted", async () => {
  const on = await create();
  Object.assign(on.backend, { readsQuota: true });
  await spawn(on, "a");
  await settle();
  let resets = Date.now() + 3 * HOUR;
  let reads = 0;
  Object.assign(runOf(on, "a"), {
    readQuota: async () => {
      reads += 1;
      report(on, "a", { window: "5h", resets_at_ms: resets, used_percent: Date.now() < resets ? 100 : 3 });
      return true;
    },
  });
  limit(on, "a");
  await pass(HOUR + 60_000);
  expect(reads).toBe(1);
  expect(textsOf(runOf(on, "a"))).toHaveLength(1);
  expect(await show(on, "a")).toMatchObject({ quota_wait: { until_ms: START + 3 * HOUR } });
  resets = Date.now();
  await pass(2 * HOUR);
  expect(reads).toBe(2);
  expect(textsOf(runOf(on, "a"))).toHaveLength(2);
});

test("a wait survives a restart of the daemon", async () => {
  const before = await create();
  await spawn(before, "a");
  await settle();
  limit(before, "a");
  await settle(8);
  const { store } = before;
  await before.quiet();
  const on = await world({ store, quota: { onLimit: "wait", maxWaitMs: 24 * HOUR } });
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ activity_state: "waiting_quota", queued: 1 });
  await pass(HOUR - 1_000);
  expect(on.backend.runs).toHaveLength(0);
  await pass(60_000);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
});

test("a reset beyond the longest wait is not waited for", async () => {
  const on = await create("wait", 2 * HOUR);
  await spawn(on, "a");
  await settle();
  limit(on, "a", Date.now() + 3 * HOUR);
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle", failed: true, queued: 0 });
});

test("after the longest wait the message has failed, also if nobody was there to be asked", async () => {
  const on = await create("ask", 2 * HOUR);
  await spawn(on, "a");
  await settle();
  limit(on, "a");
  await pass(2 * HOUR - 1_000);
  expect(await show(on, "a")).toMatchObject({ activity_state: "waiting_quota" });
  await pass(2_000);
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle", failed: true, pending_requests: 0 });
  expect(textsOf(runOf(on, "a"))).toHaveLength(1);
});

test("without a reset time it is tried again after a minute, then after twice as long, at most an hour", async () => {
  const on = await create();
  await spawn(on, "a");
  await settle();
  const delays: number[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    limit(on, "a", null);
    await settle(8);
    const { quota_wait } = await show(on, "a");
    delays.push(Math.round(((quota_wait?.until_ms ?? 0) - Date.now()) / 60_000));
    await pass((quota_wait?.until_ms ?? 0) - Date.now() + 31_000);
    expect(textsOf(runOf(on, "a"))).toHaveLength(turn + 2);
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test("`retry_after_ms` of the failure is the reset, and shown as such", async () => {
  const on = await create();
  await spawn(on, "a");
  await settle();
  const error = { code: "rate_limited", message: "slow down", retry_after_ms: 30_000 };
  runOf(on, "a").sink.event({ type: "agent.result", backend: "fake", subtype: "error", error });
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ quota_wait: { until_ms: START + 30_000, window: "retry" } });
  expect(await on.manager.quota({ refresh: false })).toMatchObject({
    windows: [{ backend: "fake", account: "default", window: "retry", resets_at_ms: START + 30_000 }],
    waiting: [{ session_id: "a", until_ms: START + 30_000 }],
  });
});

test("a person may resume at once, or cancel; a session that does not wait refuses both", async () => {
  const on = await create();
  for (const id of ["a", "b"]) await spawn(on, id);
  await settle();
  for (const id of ["a", "b"]) limit(on, id);
  await settle(8);
  await on.manager.orderQuota("a", { order: "resume" });
  await settle(8);
  expect(textsOf(runOf(on, "a"))).toHaveLength(2);
  await on.manager.orderQuota("b", { order: "cancel" });
  await settle(8);
  expect(await show(on, "b")).toMatchObject({ activity_state: "idle", failed: true, queued: 0 });
  for (const order of ["resume", "cancel"] as const)
    await expect(on.manager.orderQuota("b", { order })).rejects.toMatchObject({ code: "quota_not_waiting" });
});

test("cancelling the last message ends the wait; a stopped session does not continue", async () => {
  const on = await create();
  for (const id of ["a", "b"]) await spawn(on, id);
  await settle();
  for (const id of ["a", "b"]) limit(on, id);
  await settle(8);
  const [queued] = (await on.manager.queue("a")).queued;
  await on.manager.cancelInput("a", queued?.message_id ?? "");
  expect(await show(on, "a")).toMatchObject({ activity_state: "idle" });
  await on.manager.stop("b", { tree: false });
  expect(await show(on, "b")).toMatchObject({ activity_state: "stopped" });
  await pass(3 * HOUR);
  expect(on.backend.runs.flatMap(textsOf)).toEqual(["do a", "do b"]);
});

test("an agent that waits gives its slot to another session, and takes one again", async () => {
  const on = await world({
    quota: { onLimit: "wait", maxWaitMs: 24 * HOUR },
    limits: { maxSessions: 1, maxSessionsPerClient: 1 },
  });
  await spawn(on, "a");
  await settle();
  limit(on, "a");
  await settle(8);
  const spawned = spawn(on, "b");
  await settle(12);
  runOf(on, "a").end(true);
  await spawned;
  await settle(8);
  expect(await show(on, "a")).toMatchObject({ activity_state: "waiting_quota", running: false });
  succeed(on, "b");
});

test.each(["a", "b"])(
  "a session whose budget is used up does not keep those behind it waiting for the window: %s",
  async (held) => {
    const on = await create();
    for (const id of ["a", "b"]) await spawn(on, id, id === held ? { budget: { max_turns: 1 } } : {});
    await settle();
    const resets = Date.now() + HOUR;
    for (const id of ["a", "b"]) limit(on, id, resets);
    await pass(HOUR + 60_000);
    const other = held === "a" ? "b" : "a";
    expect(textsOf(runOf(on, other))).toHaveLength(2);
    expect(textsOf(runOf(on, held))).toHaveLength(1);
    expect(await show(on, held)).toMatchObject({
      queued: 1,
      held: expect.stringContaining("1 of 1 turn used"),
      quota_wait: { until_ms: resets },
    });
    succeed(on, other);
    await on.manager.mark(held, { budget: { max_turns: 5 } });
    await pass(1_000);
    expect(textsOf(runOf(on, held))).toEqual([`do ${held}`, `do ${held}`]);
    const done = await show(on, held);
    expect(done.quota_wait).toBeUndefined();
  },
);

test.each(["is stopped", "uses up its budget"])(
  "a session that %s while its quota is read does not keep the others waiting",
  async (how) => {
    const on = await create();
    Object.assign(on.backend, { readsQuota: true });
    for (const id of ["a", "b"]) await spawn(on, id, { budget: { max_turns: 9 } });
    await settle();
    const reading: string[] = [];
    const reads = new Map<string, () => void>();
    for (const id of ["a", "b"])
      Object.assign(runOf(on, id), {
        readQuota: () =>
          new Promise<void>((resolve) => {
            reading.push(id);
            reads.set(id, resolve);
          }),
      });
    const resets = Date.now() + HOUR;
    for (const id of ["a", "b"]) limit(on, id, resets);
    await pass(HOUR + 60_000);
    const [first = ""] = reading;
    const other = first === "a" ? "b" : "a";
    expect(reading).toEqual([first]);
    if (how === "is stopped") {
      const stopping = on.manager.stop(first, { tree: false });
      await settle(8);
      runOf(on, first).end(true);
      await stopping;
    } else await on.manager.mark(first, { budget: { max_turns: 1 } });
    reads.get(first)?.();
    await pass(60_000);
    expect(reading).toEqual([first, other]);
    reads.get(other)?.();
    await pass(1_000);
    expect(textsOf(runOf(on, other))).toHaveLength(2);
  },
);

test("messages can be queued while a person is asked whether to wait", async () => {
  const on = await create("ask");
  await spawn(on, "a");
  await settle();
  limit(on, "a");
  await settle(12);
  expect(await show(on, "a")).toMatchObject({ pending_requests: 1 });
  const message = { role: "user", content: "and then" } as const;
  await on.manager.input({ session_id: "a", message });
  await on.manager.input({ session_id: "a", message: { ...message, content: "now" }, now: true });
  await settle(8);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
  await on.manager.orderQuota("a", { order: "cancel" });
  await settle(12);
  expect(await show(on, "a")).toMatchObject({ pending_requests: 0 });
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "now"]);
});
