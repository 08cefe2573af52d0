// The durable queue: in order, one at a time, at most once, whatever fails in between.
import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import { UserMessage } from "../../src/protocol/content.ts";
import { readText } from "../../src/protocol/message-text.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import type { Session } from "../../src/sessions/session.ts";
import { spawnSession } from "../../src/sessions/spawn.ts";
import { askOf, gate, type Stage, settle, stage, user } from "./fakes.ts";

const any = {
  checkParent: async () => () => undefined,
  transcripts: { take: () => Promise.reject(new Error("none")) },
};

async function spawned(on: Stage = stage(), first?: string): Promise<{ on: Stage; session: Session }> {
  const message = first === undefined ? {} : { message: user(first) };
  const { session_id } = await spawnSession(
    { backend: "fake", session_id: "m", ...message },
    { table: on.hub.table, ...any },
  );
  await settle();
  return { on, session: on.hub.table.session(session_id) };
}

const send = (session: Session, text: string, key?: string) =>
  session.enqueue({ message: user(text), kind: "user", ...(key === undefined ? {} : { key }) });

const stateOf = (row: SessionRow, message_id: string) =>
  row.inputs?.find((record) => record.message_id === message_id)?.state;

test("delivers queued messages one turn at a time, in order", async () => {
  const { on, session } = await spawned(stage(), "one");
  const two = await send(session, "two");
  await send(session, "three");
  expect(two).toMatchObject({ position: 0, repeated: false, input: { state: "queued" } });
  expect(on.backend.last.sent).toEqual([user("one")]);
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("two")]);
  expect(stateOf(session.row, two.input.message_id)).toBe("delivered");
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("two"), user("three")]);
  expect(session.row.inputs?.find((one) => one.message_id === two.input.message_id)).toMatchObject({
    state: "done",
    outcome: "success",
  });
  expect(on.backend.runs).toHaveLength(1);
});

test("puts a message sent as first before the others", async () => {
  const { on, session } = await spawned(stage(), "one");
  await send(session, "two");
  await session.enqueue({ message: user("first"), kind: "user", isFirst: true });
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("first")]);
});

test("reports a message only once it is stored, and refuses one that the disk does not take", async () => {
  const { on, session } = await spawned(stage(), "one");
  on.store.failing = true;
  await expect(send(session, "two")).rejects.toMatchObject({ code: "store_failed" });
  expect(session.queued).toEqual([]);
  on.store.failing = false;
  await send(session, "three");
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("three")]);
});

test("gives a message to the agent only once its leaving the queue is stored", async () => {
  const { on, session } = await spawned();
  const run = on.backend.last;
  const stored: unknown[] = [];
  run.send = async () => {
    const row = on.store.saved.get("m");
    stored.push({ queue: row?.queue, states: row?.inputs?.map(({ state }) => state), turn: row?.turn });
  };
  await send(session, "one");
  await settle();
  expect(stored).toEqual([{ queue: undefined, states: ["delivered"], turn: expect.anything() }]);
});

test("does not give the agent a message whose leaving the queue could not be stored", async () => {
  const { on, session } = await spawned(stage(), "one");
  const { input } = await send(session, "two");
  on.store.failing = true;
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one")]);
  expect(stateOf(session.row, input.message_id)).toBe("queued");
  expect(session.held).toMatch(/disk/);
  expect(session.isTurnActive).toBe(false);
  on.store.failing = false;
  await send(session, "three");
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("two")]);
});

test("reports only what is stored to a client that repeats a key", async () => {
  const { on, session } = await spawned(stage(), "one");
  const disk = gate();
  on.store.held = disk.passed;
  on.store.failing = true;
  const told: string[] = [];
  const sent = [1, 2].map(() =>
    send(session, "two", "k").then(
      ({ repeated }) => told.push(`repeated: ${repeated}`),
      (error: CodedError) => told.push(error.code),
    ),
  );
  await settle();
  expect(told).toEqual([]);
  disk.open();
  await Promise.all(sent);
  expect(told).toEqual(["store_failed", "store_failed"]);
  on.store.failing = false;
  const again = await Promise.all([send(session, "two", "k"), send(session, "two", "k")]);
  expect(again.map(({ repeated }) => repeated)).toEqual([false, true]);
});

test("answers every sender, even if many messages are cancelled while the disk is slow", async () => {
  const { on, session } = await spawned(stage(), "one");
  const disk = gate();
  on.store.held = disk.passed;
  const waiting: Promise<unknown>[] = [];
  for (let n = 0; n < 250; n += 1) {
    waiting.push(send(session, `message ${n}`));
    const message_id = session.queued.at(-1)?.message_id ?? "";
    waiting.push(session.cancel(message_id));
  }
  disk.open();
  const outcomes = await Promise.allSettled(waiting);
  const codes = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(new Set(codes)).toEqual(new Set(["message_unknown"]));
  expect(session.queued).toEqual([]);
});

test("applies the same key once, and refuses it for another message", async () => {
  const { session } = await spawned(stage(), "one");
  const first = await send(session, "two", "k");
  const again = await send(session, "two", "k");
  expect(again).toEqual({ input: first.input, position: 0, repeated: true });
  await expect(send(session, "other", "k")).rejects.toMatchObject({ code: "idempotency_mismatch" });
  expect(session.queued).toHaveLength(1);
});

test("cancels queued messages, and says why it cannot cancel others", async () => {
  const { on, session } = await spawned(stage(), "one");
  const two = await send(session, "two");
  const cancelled = await session.cancel(two.input.message_id);
  expect(cancelled.state).toBe("cancelled");
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one")]);
  await expect(session.cancel(two.input.message_id)).rejects.toMatchObject({
    code: "message_unknown",
    message: expect.stringMatching(/is cancelled already/),
  });
  await expect(session.cancel("msg_x")).rejects.toThrow(/is not known/);
});

test("accepts at most 100 messages and says what to do", async () => {
  const { session } = await spawned(stage(), "one");
  await Promise.all(Array.from({ length: 100 }, (_, n) => send(session, `n${n}`)));
  await expect(send(session, "more")).rejects.toMatchObject({
    code: "queue_full",
    message: expect.stringMatching(/100 messages.*sm queue/),
  });
});

test("a queue full of wakes still takes messages of users", async () => {
  const { session } = await spawned(stage(), "one");
  const wake = (n: number) => ({ message: user("wake up"), kind: "wake" as const, message_id: `wake_${n}` });
  await Promise.all(Array.from({ length: 100 }, (_, n) => session.enqueue(wake(n))));
  await expect(session.enqueue(wake(100))).rejects.toMatchObject({ code: "queue_full" });
  expect(await send(session, "more")).toMatchObject({ input: { state: "queued" } });
});

test("waits while a request is pending, and continues when it is answered and the turn is over", async () => {
  const { on, session } = await spawned(stage(), "one");
  on.backend.last.ask(askOf("a"));
  await settle();
  await send(session, "two");
  const [request] = on.ledger.listPending("m");
  await on.ledger.respond({
    session_id: "m",
    request_id: request?.request_id ?? "",
    answer: { decision: "accept" },
    source: "api",
  });
  expect(on.backend.last.sent).toEqual([user("one")]);
  on.backend.last.result();
  await settle();
  expect(on.backend.last.sent).toEqual([user("one"), user("two")]);
});

test("keeps a message that met a turn of the agent's own, and delivers it afterwards", async () => {
  const { on, session } = await spawned();
  const run = on.backend.last;
  let refuse = true;
  run.send = async (message) => {
    if (refuse) throw new CodedError("session_busy", "it has just begun a turn");
    run.sent.push(message);
  };
  const { input } = await send(session, "one");
  await settle();
  expect(stateOf(session.row, input.message_id)).toBe("queued");
  refuse = false;
  run.result();
  await settle();
  expect(run.sent).toEqual([user("one")]);
});

test("gives up a message that the agent cannot take, says why, and continues with the next", async () => {
  const { on, session } = await spawned();
  const run = on.backend.last;
  run.send = async (message) => {
    if (JSON.stringify(message).includes("bad")) throw new CodedError("invalid_message", "no images here");
    run.sent.push(message);
  };
  const bad = await send(session, "bad");
  await send(session, "good");
  await settle();
  expect(session.row.inputs?.find(({ message_id }) => message_id === bad.input.message_id)).toMatchObject({
    state: "failed",
    error: { code: "invalid_message", message: "no images here" },
  });
  expect(run.sent).toEqual([user("good")]);
});

test("holds the queue while the agent fails to start, and tries again at the next message", async () => {
  const { on, session } = await spawned();
  on.backend.last.end(false, 1);
  on.backend.failing = new CodedError("spawn_failed", "no such program");
  const { input } = await send(session, "one");
  await settle();
  expect(session.held).toBe("no such program");
  expect(stateOf(session.row, input.message_id)).toBe("queued");
  on.backend.failing = undefined;
  await send(session, "two");
  await settle();
  expect(on.backend.last.sent).toEqual([user("one")]);
});

test("keeps the queue across a restart, and does not deliver a message twice", async () => {
  const before = stage();
  const { session } = await spawned(before, "one");
  await send(session, "two");
  // Nothing is closed: the daemon was killed.
  const after = stage({ store: before.store });
  const revived = await after.hub.table.revive("m");
  expect(revived.row.inputs?.[0]).toMatchObject({ state: "done", outcome: "error" });
  expect(revived.row.last_result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
  revived.goOn();
  await settle();
  expect(after.backend.last.sent).toEqual([user("two")]);
  expect(after.backend.last.order).toMatchObject({ resume: true, session_id: "m" });
});

test("does not start a stopped session for a wake, but delivers it with the user's next message", async () => {
  const { on, session } = await spawned();
  await session.halt({ isAsked: false });
  await session.enqueue({ message: user("wake up"), kind: "wake", message_id: "wake_1" });
  await settle();
  expect(on.backend.alive).toEqual([]);
  await send(session, "go on");
  await settle();
  expect(on.backend.last.sent).toEqual([user("wake up")]);
});

/** Of a message that was given to an agent. */
function textOf(message: unknown): string {
  return readText(UserMessage.parse(message), "\n");
}

describe("wakes that wait for a busy agent", () => {
  const wakeOf = (id: string, brief?: string) => ({
    message: user(`the whole text of ${id}`),
    ...{ kind: "wake" as const, message_id: `wake_${id}`, from: id },
    ...(brief === undefined ? {} : { brief }),
  });

  test("are one message, in one turn; what the user sent keeps its own", async () => {
    const { on, session } = await spawned(stage(), "one");
    await session.enqueue(wakeOf("a", '- "a" has finished its turn.'));
    await send(session, "two");
    await session.enqueue(wakeOf("b"));
    on.backend.last.result();
    await settle();
    const [, given, ...more] = on.backend.last.sent;
    expect(more).toEqual([]);
    const lines = textOf(given).split("\n");
    expect(lines[0]).toContain("[blemees] Automatic message");
    expect(lines.slice(1)).toEqual([
      "2 events about your child sessions:",
      '- "a" has finished its turn.',
      "the whole text of b",
      'If sm is not on the PATH, use "$BLEMEES_SM".',
    ]);
    const turn_id = session.row.turn?.turn_id;
    expect(session.row.inputs?.filter(({ kind }) => kind === "wake")).toMatchObject([
      { message_id: "wake_a", state: "delivered", turn_id },
      { message_id: "wake_b", state: "delivered", turn_id },
    ]);
    on.backend.last.result();
    await settle();
    expect(stateOf(session.row, "wake_a")).toBe("done");
    expect(stateOf(session.row, "wake_b")).toBe("done");
    expect(on.backend.last.sent.at(-1)).toEqual(user("two"));
  });

  test("are recalled one by one while they wait", async () => {
    const { on, session } = await spawned(stage(), "one");
    for (const id of ["a", "b", "c"]) await session.enqueue(wakeOf(id));
    await session.cancel("wake_a");
    on.backend.last.result();
    await settle();
    expect(textOf(on.backend.last.sent.at(-1))).not.toContain("whole text of a");
    expect(textOf(on.backend.last.sent.at(-1))).toContain("whole text of c");
  });

  test("are delivered again as one message after a crash of the daemon in their turn", async () => {
    const before = stage();
    const { session } = await spawned(before, "one");
    for (const id of ["a", "b"]) await session.enqueue(wakeOf(id));
    before.backend.last.result();
    await settle();
    const after = stage({ store: before.store });
    const revived = await after.hub.table.revive("m");
    expect(revived.queued.map(({ message_id }) => message_id)).toEqual(["wake_a_again"]);
    revived.goOn();
    await settle();
    expect(after.backend.last.sent).toHaveLength(1);
    expect(textOf(after.backend.last.sent[0])).toContain("whole text of b");
  });
});

test("recognizes a repeated wake", async () => {
  const { session } = await spawned(stage(), "one");
  const wake = { message: user("wake up"), kind: "wake" as const, message_id: "wake_1" };
  await session.enqueue(wake);
  expect(await session.enqueue(wake)).toMatchObject({ repeated: true });
  expect(session.queued).toHaveLength(1);
});

test("keeps the agent of a spawned session between turns, and releases it after a long idle time", async () => {
  const { on, session } = await spawned(stage(), "one");
  on.backend.last.result();
  await settle();
  expect(on.backend.alive).toHaveLength(1);
  const nowMs = Date.now();
  expect(await on.hub.reap(60_000, nowMs)).toBe(0);
  expect(await on.hub.reap(60_000, nowMs + 120_000)).toBe(1);
  expect(on.backend.alive).toEqual([]);
  expect(on.hub.table.row("m")).toBeUndefined();
  expect(await on.hub.table.find("m")).toEqual(session.row);
  await send(await on.hub.table.revive("m"), "two");
  await settle();
  expect(on.backend.last.sent).toEqual([user("two")]);
});

test("does not release a spawned session while it has work in progress", async () => {
  const { on, session } = await spawned(stage(), "one");
  const late = Date.now() + 1_000_000;
  expect(await on.hub.reap(1, late)).toBe(0);
  on.backend.last.ask(askOf("a"));
  await settle();
  expect(await on.hub.reap(1, late)).toBe(0);
  expect(session.isRunning).toBe(true);
});

test("spawns the same key once, even after a restart", async () => {
  const on = stage();
  const order = { backend: "fake", message: user("one"), key: "k1" };
  const parts = { table: on.hub.table, ...any };
  const first = await spawnSession(order, parts);
  const again = await spawnSession(order, parts);
  expect(again).toEqual({ ...first, repeated: true });
  await expect(spawnSession({ ...order, message: user("two") }, parts)).rejects.toMatchObject({
    code: "idempotency_mismatch",
  });
  const later = stage({ store: on.store });
  expect(await spawnSession(order, { table: later.hub.table, ...any })).toEqual({ ...first, repeated: true });
  expect(later.backend.runs).toEqual([]);
});

test("spawns a key once, whatever id comes with it and in whatever order the body's keys are", async () => {
  const on = stage();
  const parts = { table: on.hub.table, ...any };
  const order = { backend: "fake", message: user("one"), key: "k", options: { a: 1, b: { c: 2, d: 3 } } };
  const all = await Promise.allSettled([
    spawnSession(order, parts),
    spawnSession({ ...order, session_id: "x" }, parts),
    spawnSession({ ...order, session_id: "y" }, parts),
    spawnSession({ ...order, options: { b: { d: 3, c: 2 }, a: 1 } }, parts),
  ]);
  expect(all.map((one) => (one.status === "fulfilled" ? one.value.repeated : one.reason.code))).toEqual([
    false,
    "idempotency_mismatch",
    "idempotency_mismatch",
    true,
  ]);
  expect(on.backend.runs).toHaveLength(1);
});

test("refuses a message that is too large for any queue, even as the first one", async () => {
  const on = stage();
  const order = { backend: "fake", session_id: "m", message: user("x".repeat(5 * 1024 * 1024)) };
  await expect(spawnSession(order, { table: on.hub.table, ...any })).rejects.toMatchObject({
    code: "oversize_message",
    message: expect.stringMatching(/exceeds 4 MB.*file/),
  });
  expect(on.hub.table.row("m")).toBeUndefined();
});

test("leaves nothing if the agent of a spawn does not start, or the disk refuses it", async () => {
  const on = stage();
  const parts = { table: on.hub.table, ...any };
  on.backend.failing = new CodedError("spawn_failed", "no such program");
  const order = { backend: "fake", session_id: "m", message: user("one") };
  await expect(spawnSession(order, parts)).rejects.toMatchObject({ code: "spawn_failed" });
  expect(on.hub.table.row("m")).toBeUndefined();
  expect(on.store.saved.size).toBe(0);
  on.backend.failing = undefined;
  on.store.failing = true;
  await expect(spawnSession(order, parts)).rejects.toMatchObject({ code: "store_failed" });
  expect(on.hub.table.row("m")).toBeUndefined();
  expect(on.backend.alive).toEqual([]);
  on.store.failing = false;
  await spawnSession(order, parts);
  await settle();
  expect(on.backend.last.sent).toEqual([user("one")]);
});
