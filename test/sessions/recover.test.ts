// After a crash of the daemon: a turn that never got its result gets it now, once.
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { createPublisher, recoverTurns } from "../../src/sessions/index.ts";
import { FakeStore, type Heard, rowOf } from "./fakes.ts";

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

const recover = (store: FakeStore) => recoverTurns(store, createPublisher(store, silentLog), silentLog);

test("a cut turn gets its error and its result, with its own id, behind what is there", async () => {
  const store = new FakeStore();
  write(store, [{ type: "agent.delta", backend: "fake" }]);
  store.saved.set("s", rowOf("s", { turn: TURN, last_seq: 1 }));
  expect(await recover(store)).toBe(1);
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
  expect(await recover(store)).toBe(0);
  expect(logged(store)).toHaveLength(3);
});

test("a turn whose result is in the log already gets no second one", async () => {
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
  expect(await recover(store)).toBe(0);
  expect(store.orders).toEqual([]);
});
