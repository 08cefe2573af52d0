// The path of an event: log first, then the clients; and what happens when the log fails.
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { Feed } from "../../src/sessions/stream/feed.ts";
import { createPublisher, type Publisher } from "../../src/sessions/stream/publish.ts";
import { Stream } from "../../src/sessions/stream/stream.ts";
import { Ear, FakeStore, gate, rowOf, settle } from "./fakes.ts";
import { requestOf } from "./family-world.ts";

interface Bench {
  store: FakeStore;
  publisher: Publisher;
  stream: Stream;
  ear: Ear;
}

function bench(ringSize = 100): Bench {
  const store = new FakeStore();
  const stream = new Stream({ row: rowOf("s"), ringSize, store, pressure: () => undefined });
  const ear = new Ear();
  const feed = new Feed({ client: { id: "c" }, subscriber: ear, stream, role: "owner", after_seq: 0 });
  feed.start();
  return { store, publisher: createPublisher(store, silentLog), stream, ear };
}

const delta = (text: string) => ({ type: "agent.delta", backend: "fake", kind: "text", text });

describe("a working log", () => {
  test("frames get session_id and seq, from 1, without a gap", async () => {
    const { publisher, stream, ear } = bench();
    for (const text of ["a", "b"]) publisher.publish(stream, delta(text));
    await stream.settled();
    publisher.publish(stream, delta("c"));
    await stream.settled();
    expect(ear.heard).toEqual(
      ["a", "b", "c"].map((text, index) => ({ session_id: "s", seq: index + 1, ...delta(text) })),
    );
  });

  test("no client sees a frame before the log has it", async () => {
    const { store, publisher, stream, ear } = bench();
    const { open, passed } = gate();
    store.held = passed;
    publisher.publish(stream, delta("a"));
    await settle();
    expect(store.orders).toHaveLength(1);
    expect(ear.heard).toEqual([]);
    expect(stream.last_seq).toBe(0);
    open();
    await stream.settled();
    expect(ear.seqs).toEqual([1]);
  });

  test("what follows in the same chain of promises is part of the same write", async () => {
    const { store, publisher, stream } = bench();
    await Promise.resolve();
    publisher.saveRow(stream);
    await Promise.resolve();
    publisher.publish(stream, delta("a"));
    await stream.settled();
    expect(store.orders.map(({ batches, rows }) => [batches.length, rows.length])).toEqual([[1, 1]]);
  });

  test("frames that are flushed before a synced one are sent without waiting for its sync", async () => {
    const { store, publisher, stream, ear } = bench();
    const { open, passed } = gate();
    const append = store.append.bind(store);
    // A file is written at once; only a sync takes time.
    store.append = ((order) => {
      const outcome = append(order);
      return order.sync ? passed.then(() => outcome) : order.batches.map(() => undefined);
    }) as typeof store.append;
    publisher.publish(stream, delta("a"));
    publisher.flush(stream);
    expect(ear.seqs).toEqual([1]);
    publisher.publish(stream, delta("b"), true);
    await settle();
    expect(ear.seqs).toEqual([1]);
    open();
    await stream.settled();
    expect(ear.seqs).toEqual([1, 2]);
    expect(store.orders.map(({ sync }) => sync)).toEqual([false, true]);
  });

  test("all frames of a tick, of all sessions, are one write; those that arrive meanwhile are the next", async () => {
    const { store, publisher, stream } = bench();
    const other = new Stream({ row: rowOf("t"), ringSize: 10, store, pressure: () => undefined });
    const { open, passed } = gate();
    store.held = passed;
    publisher.publish(stream, delta("a"));
    publisher.publish(other, delta("b"));
    await settle();
    for (const text of ["c", "d"]) publisher.publish(stream, delta(text));
    await settle();
    open();
    await Promise.all([stream.settled(), other.settled()]);
    const sizes = store.orders.map((order) =>
      order.batches.map((batch) => [batch.first_seq, batch.last_seq]),
    );
    expect(sizes).toEqual([
      [
        [1, 1],
        [1, 1],
      ],
      [[2, 3]],
    ]);
  });

  test("a result is synced to disk, and a changed row goes with its frames", async () => {
    const { store, publisher, stream } = bench();
    publisher.publish(stream, delta("a"), true);
    publisher.saveRow(stream);
    await stream.settled();
    publisher.publish(stream, delta("b"));
    await stream.settled();
    expect(store.orders.map((order) => order.sync)).toEqual([true, false]);
    expect(store.orders.map((order) => order.rows.map((row) => row.last_seq))).toEqual([[1], []]);
  });

  test("a changed row is stored without a frame", async () => {
    const { store, publisher, stream, ear } = bench();
    stream.row.title = "hello";
    publisher.saveRow(stream);
    await stream.settled();
    expect(store.saved.get("s")).toMatchObject({ title: "hello", last_seq: 0 });
    expect(ear.heard).toEqual([]);
  });
});

describe("a failing log", () => {
  test("the frame is shown without seq and marked as not persisted", async () => {
    const { store, publisher, stream, ear } = bench();
    store.failing = true;
    publisher.publish(stream, delta("lost"));
    await stream.settled();
    expect(ear.heard).toEqual([{ session_id: "s", persisted: false, ...delta("lost") }]);
    expect(stream.last_seq).toBe(0);
  });

  test("the first stored frame afterwards is a notice that says how many are missing and where", async () => {
    const { store, publisher, stream, ear } = bench();
    publisher.publish(stream, delta("kept"));
    await stream.settled();
    store.failing = true;
    for (const text of ["x", "y"]) {
      publisher.publish(stream, delta(text));
      await stream.settled();
    }
    store.failing = false;
    publisher.publish(stream, delta("again"));
    await stream.settled();
    expect(ear.heard.slice(-2)).toMatchObject([
      { seq: 2, type: "agent.notice", category: "event_persist_recovered", data: { lost: 2, after_seq: 1 } },
      { seq: 3, text: "again" },
    ]);
    publisher.publish(stream, delta("normal"));
    await stream.settled();
    expect(ear.seqs).toEqual([1, 2, 3, 4]);
  });

  test("seq in the log stays gapless whatever fails in between", async () => {
    const { store, publisher, stream } = bench();
    for (let n = 0; n < 40; n += 1) {
      store.failing = n % 7 === 3 || n % 5 === 1;
      publisher.publish(stream, delta(String(n)));
      if (n % 3 === 0) publisher.publish(stream, delta("more"));
      await stream.settled();
    }
    let next = 1;
    for (const batch of store.log) {
      expect(batch.first_seq).toBe(next);
      next = batch.last_seq + 1;
    }
    expect(stream.last_seq).toBe(next - 1);
  });

  test("a row that could not be stored goes with the next frame, and nothing waits for it", async () => {
    const { store, publisher, stream } = bench();
    store.failing = true;
    stream.row.turns = 3;
    publisher.saveRow(stream);
    await stream.settled();
    expect(store.saved.size).toBe(0);
    store.failing = false;
    publisher.publish(stream, delta("a"));
    await stream.settled();
    expect(store.saved.get("s")).toMatchObject({ turns: 3 });
    publisher.publish(stream, delta("b"));
    await stream.settled();
    expect(store.orders.at(-1)?.rows).toEqual([]);
  });

  test("a store that throws counts as failed, and every caller gets an answer", async () => {
    const { store, publisher, stream, ear } = bench();
    store.append = () => Promise.reject(new Error("worker died"));
    publisher.publish(stream, delta("lost"));
    await stream.settled();
    expect(ear.heard).toMatchObject([{ persisted: false }]);
  });
});

describe("pressure", () => {
  test("a log that accepts nothing makes the stream overfull, and both changes are reported", async () => {
    const store = new FakeStore();
    const told: boolean[] = [];
    const stream = new Stream({
      row: rowOf("s"),
      ringSize: 10,
      store,
      pressure: () => told.push(stream.isOverfull),
    });
    const publisher = createPublisher(store, silentLog);
    const { open, passed } = gate();
    store.held = passed;
    for (let n = 0; n < 5; n += 1) publisher.publish(stream, delta("x".repeat(1024 * 1024)));
    expect(told.at(-1)).toBe(true);
    open();
    await stream.settled();
    expect(told.at(-1)).toBe(false);
  });
});

describe("a closed publisher", () => {
  test("frames that wait at close are stored with the mark of that moment: what is read later is not stored", async () => {
    const { store, publisher, stream } = bench();
    let out = 1;
    stream.mark = () => ({ run_id: "r", out, err: 0, n: 0 });
    const { open, passed } = gate();
    store.held = passed;
    publisher.publish(stream, delta("a"));
    await settle();
    out = 2;
    publisher.publish(stream, delta("b"));
    const closed = publisher.close();
    out = 3;
    publisher.publish(stream, delta("not stored"));
    open();
    await closed;
    expect(store.orders.map(({ batches }) => batches[0]?.run?.out)).toEqual([1, 2]);
  });

  test("ignores frames, rows and requests, and resolves at once if nothing is being written", async () => {
    const { store, publisher, stream, ear } = bench();
    await publisher.close();
    publisher.publish(stream, delta("late"));
    publisher.saveRow(stream);
    let isSettled = false;
    void publisher.publishRequest(stream, requestOf("s", "r"), delta("asks")).then(() => {
      isSettled = true;
    });
    await settle(10);
    expect([store.orders, ear.heard, isSettled]).toEqual([[], [], false]);
  });

  test("still stores and sends what was published before, also what waited for the write in progress", async () => {
    const { store, publisher, stream, ear } = bench();
    const { open, passed } = gate();
    store.held = passed;
    publisher.publish(stream, delta("a"));
    await settle();
    publisher.publish(stream, delta("b"));
    let isClosed = false;
    const closing = publisher.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    open();
    await closing;
    expect(ear.seqs).toEqual([1, 2]);
    expect(store.log).toHaveLength(2);
  });

  test("closes although the disk refuses the last write", async () => {
    const { store, publisher, stream, ear } = bench();
    store.failing = true;
    publisher.publish(stream, delta("lost"));
    await publisher.close();
    expect(ear.heard).toMatchObject([{ persisted: false }]);
  });
});
