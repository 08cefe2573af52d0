// After a crash of the daemon: a turn without a result gets one, once; a pending request is orphaned.
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { createPublisher, recoverSessions } from "../../src/sessions/index.ts";
import {
  createPendingRow,
  expire,
  markDispatched,
  resolve,
  withdraw,
} from "../../src/sessions/requests/states.ts";
import { askOf, FakeStore, type Heard, rowOf } from "./fakes.ts";

const TURN = { turn_id: "0123456789abcdef0123456789abcdef", started_at_ms: 5 };

function logged(store: FakeStore): Heard[] {
  return store.log.flatMap((batch) =>
    Buffer.from(batch.bytes)
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Heard),
  );
}

function write(store: FakeStore, frames: object[]): void {
  const text = frames.map(
    (frame, index) => `${JSON.stringify({ session_id: "s", seq: index + 1, ...frame })}\n`,
  );
  store.log.push({
    session_id: "s",
    first_seq: 1,
    last_seq: frames.length,
    bytes: Buffer.from(text.join("")),
  });
}

const recover = (store: FakeStore) => recoverSessions(store, createPublisher(store, silentLog), silentLog);

test("a cut turn gets its error and its result, with its own id, after the existing frames", async () => {
  const store = new FakeStore();
  write(store, [{ type: "agent.delta", backend: "fake" }]);
  store.saved.set("s", rowOf("s", { turn: TURN, last_seq: 1 }));
  await recover(store);
  expect(logged(store).slice(1)).toMatchObject([
    { seq: 2, type: "blemeesd.error", code: "backend_crashed", backend: "fake" },
    {
      seq: 3,
      type: "agent.result",
      subtype: "error",
      turn_id: TURN.turn_id,
      error: { code: "backend_crashed" },
    },
  ]);
  expect(store.saved.get("s")).not.toHaveProperty("turn");
  await recover(store);
  expect(logged(store)).toHaveLength(3);
});

test("a turn whose result is already in the log gets no second one", async () => {
  const store = new FakeStore();
  write(store, [{ type: "agent.result", backend: "fake", subtype: "success", turn_id: TURN.turn_id }]);
  store.saved.set("s", rowOf("s", { turn: TURN, last_seq: 1 }));
  await recover(store);
  expect(logged(store)).toHaveLength(1);
  expect(store.saved.get("s")).not.toHaveProperty("turn");
});

test("a turn that was cut before its first frame gets its result as well", async () => {
  const store = new FakeStore();
  store.saved.set("s", rowOf("s", { turn: TURN }));
  await recover(store);
  expect(logged(store).map((frame) => [frame["seq"], frame.type])).toEqual([
    [1, "blemeesd.error"],
    [2, "agent.result"],
  ]);
});

test("sessions without a turn are left alone", async () => {
  const store = new FakeStore();
  store.saved.set("s", rowOf("s", { last_seq: 4 }));
  await recover(store);
  expect(store.orders).toEqual([]);
});

test("each request that can no longer be answered is orphaned and reported, including one whose answer was not dispatched", async () => {
  const store = new FakeStore();
  store.saved.set("s", rowOf("s"));
  const asked = (request_id: string) =>
    createPendingRow(askOf(request_id), {
      request_id,
      session_id: "s",
      backend: "fake",
      generation: "g",
      nowMs: 1,
    });
  // Equally old, so ordered by id.
  const rows = [
    asked("waits"),
    resolve(asked("undelivered"), { decision: "accept" }, { source: "api" }, 2),
    expire(asked("expired")),
    markDispatched(resolve(asked("done"), { decision: "accept" }, { source: "api" }, 2), 3),
    withdraw(asked("taken back"), "x"),
  ];
  for (const row of rows) store.ledger.set(row.request_id, row);
  await recover(store);
  const told = logged(store).map((frame) => [frame["seq"], frame["category"], frame["data"]]);
  expect(told).toMatchObject(
    ["expired", "undelivered", "waits"].map((request_id, index) => [
      index + 1,
      "request_orphaned",
      { request: { request_id, status: "orphaned", error_code: "server_restarted" } },
    ]),
  );
  expect([...store.ledger.values()].map(({ status }) => status)).toEqual([
    ...["orphaned", "orphaned", "orphaned"],
    ...["resolved", "withdrawn"],
  ]);
  expect(store.ledger.get("undelivered")?.error_message).toMatch(/not known whether the answer/);
});

test("a turn and a request that were cut together end in one gapless history", async () => {
  const store = new FakeStore();
  store.saved.set("s", rowOf("s", { turn: TURN }));
  const asked = { request_id: "r", session_id: "s", backend: "fake", generation: "g", nowMs: 1 };
  store.ledger.set("r", createPendingRow(askOf("r"), asked));
  await recover(store);
  expect(logged(store).map((frame) => frame["seq"])).toEqual([1, 2, 3]);
  expect(
    logged(store)
      .map((frame) => frame["category"] ?? frame.type)
      .sort(),
  ).toEqual(["agent.result", "blemeesd.error", "request_orphaned"]);
});
