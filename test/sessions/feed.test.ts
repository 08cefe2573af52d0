// One subscriber's position in the stream: log, then ring, then live, in order; what is missing is reported first.
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { Feed } from "../../src/sessions/stream/feed.ts";
import { createPublisher } from "../../src/sessions/stream/publish.ts";
import { Stream } from "../../src/sessions/stream/stream.ts";
import { createMemoryStore, type Store } from "../../src/store/index.ts";
import { Ear, FakeStore, rowOf, settle } from "./fakes.ts";

function bench(options: { ringSize?: number; store?: Store; last_seq?: number } = {}) {
  const { ringSize = 1000, store = new FakeStore(), last_seq = 0 } = options;
  const stream = new Stream({ row: rowOf("s", { last_seq }), ringSize, store, pressure: () => undefined });
  const publisher = createPublisher(store, silentLog);
  const publish = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      publisher.publish(stream, { type: "agent.delta", backend: "fake", kind: "text" });
    await stream.settled();
  };
  const attach = (after_seq: number, role: "owner" | "watcher" = "watcher") => {
    const ear = new Ear();
    return { ear, feed: new Feed({ client: { id: "c" }, subscriber: ear, stream, role, after_seq }) };
  };
  return { stream, store, publish, attach };
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("replay", () => {
  test("frames after the last seen one are sent, then the live ones", async () => {
    const { publish, attach } = bench();
    await publish(5);
    const { ear, feed } = attach(2);
    feed.start();
    await settle();
    await publish(2);
    expect(ear.seqs).toEqual(upTo(7, 3));
  });

  test("nothing is delivered before start, so that the reply goes first", async () => {
    const { publish, attach } = bench();
    const { ear, feed } = attach(0);
    await publish(3);
    expect(ear.heard).toEqual([]);
    feed.start();
    await settle();
    expect(ear.seqs).toEqual([1, 2, 3]);
  });

  test("frames that left the ring come from the log, and live frames that arrive meanwhile follow, once", async () => {
    const { publish, attach, store } = bench({ ringSize: 4 });
    for (let n = 0; n < 10; n += 1) await publish(3);
    const { ear, feed } = attach(0);
    feed.start();
    await publish(5);
    await settle(20);
    expect(ear.seqs).toEqual(upTo(35));
    expect(ear.of("gap")).toEqual([]);
    expect((store as FakeStore).reads).toBeGreaterThan(0);
  });

  test("frames that were dropped from memory come from the log", async () => {
    const { stream, publish, attach, store } = bench();
    await publish(6);
    stream.dropStored();
    const { ear, feed } = attach(2);
    feed.start();
    await settle();
    await publish(1);
    expect(ear.seqs).toEqual(upTo(7, 3));
    expect((store as FakeStore).reads).toBeGreaterThan(0);
  });

  test("a store that keeps nothing leaves them in memory", async () => {
    const { stream, publish, attach } = bench({ store: createMemoryStore() });
    await publish(6);
    stream.dropStored();
    const { ear, feed } = attach(2);
    feed.start();
    await settle();
    expect(ear.seqs).toEqual(upTo(6, 3));
  });

  test("after a restart the ring is empty and the log serves everything", async () => {
    const store = new FakeStore();
    const before = bench({ store });
    await before.publish(6);
    const { publish, attach } = bench({ store, last_seq: 6 });
    const { ear, feed } = attach(1);
    feed.start();
    await settle();
    await publish(1);
    expect(ear.seqs).toEqual(upTo(7, 2));
  });
});

describe("a gap", () => {
  test("is reported before the replay, without a seq, when the history begins later", async () => {
    const { publish, attach } = bench({ ringSize: 4, store: createMemoryStore() });
    await publish(10);
    const { ear, feed } = attach(3);
    feed.start();
    await settle();
    expect(ear.heard[0]).toEqual({ type: "gap", since_seq: 3, first_available_seq: 7 });
    expect(ear.seqs).toEqual([7, 8, 9, 10]);
    await publish(1);
    expect(ear.seqs.at(-1)).toBe(11);
    expect(ear.of("gap")).toHaveLength(1);
  });

  test("is not reported when the next frame is the first available one", async () => {
    const { publish, attach } = bench({ ringSize: 4, store: createMemoryStore() });
    await publish(10);
    const { ear, feed } = attach(6);
    feed.start();
    await settle();
    expect(ear.heard.map((frame) => frame.type)).not.toContain("gap");
    expect(ear.seqs).toEqual([7, 8, 9, 10]);
  });

  test("is reported when nothing at all can be replayed", async () => {
    const { attach } = bench({ store: createMemoryStore(), last_seq: 9 });
    const { ear, feed } = attach(4);
    feed.start();
    await settle();
    expect(ear.heard).toEqual([{ type: "gap", since_seq: 4, first_available_seq: 10 }]);
  });

  test("is reported to a client that has seen more than there is: the history was reset", async () => {
    const { publish, attach } = bench();
    await publish(3);
    const { ear, feed } = attach(50);
    feed.start();
    await settle();
    await publish(1);
    expect(ear.heard[0]).toEqual({ type: "gap", since_seq: 50, first_available_seq: 4 });
    expect(ear.seqs).toEqual([4]);
  });

  test("is reported when the log cannot be read, and live frames continue", async () => {
    const store = new FakeStore();
    const { publish, attach } = bench({ store, last_seq: 9 });
    store.unreadable = true;
    const { ear, feed } = attach(2);
    feed.start();
    await settle();
    await publish(1);
    expect(ear.heard).toMatchObject([{ type: "gap", since_seq: 2, first_available_seq: 10 }, { seq: 10 }]);
  });
});

describe("a watcher that falls behind", () => {
  test("is notified once, gets nothing meanwhile, and everything in order when it reads again", async () => {
    const { publish, attach } = bench({ ringSize: 4 });
    const { ear, feed } = attach(0);
    feed.start();
    await publish(2);
    ear.full = true;
    for (let n = 0; n < 10; n += 1) await publish(2);
    expect(ear.heard.slice(2)).toEqual([{ type: "lagging", since_seq: 2, last_seq: expect.any(Number) }]);
    ear.full = false;
    feed.onDrain();
    await settle(20);
    await publish(1);
    expect(ear.seqs).toEqual(upTo(23));
    expect(ear.of("lagging")).toHaveLength(1);
  });

  test("with a memory store gets a gap notice as well", async () => {
    const { publish, attach } = bench({ ringSize: 4, store: createMemoryStore() });
    const { ear, feed } = attach(0);
    feed.start();
    await publish(2);
    ear.full = true;
    await publish(10);
    ear.full = false;
    feed.onDrain();
    await settle();
    expect(ear.heard.slice(2, 4)).toMatchObject([
      { type: "lagging", since_seq: 2 },
      { type: "gap", since_seq: 2, first_available_seq: 9 },
    ]);
    expect(ear.seqs).toEqual([1, 2, 9, 10, 11, 12]);
  });

  test("a reader that stops in the middle of its replay continues from there", async () => {
    const { publish, attach } = bench({ ringSize: 4 });
    for (let n = 0; n < 5; n += 1) await publish(4);
    const { ear, feed } = attach(0);
    const { write } = ear;
    ear.write = (batch) => {
      write.call(ear, batch);
      ear.full = true;
    };
    feed.start();
    for (let n = 0; n < 8; n += 1) {
      await settle();
      ear.full = false;
      feed.onDrain();
    }
    await settle();
    expect(ear.seqs).toEqual(upTo(20));
  });
});

test("an owner that is full still gets its frames, and the session is asked to pause the agent", async () => {
  const { stream, publish, attach } = bench();
  const { ear, feed } = attach(0, "owner");
  feed.start();
  ear.full = true;
  await settle();
  expect(feed.isFull).toBe(true);
  ear.full = false;
  feed.onDrain();
  await settle();
  await publish(1);
  expect(ear.seqs).toEqual([1]);
  expect(stream.feeds.size).toBe(1);
});

test("a feed that has ended receives nothing and is removed", async () => {
  const { stream, publish, attach } = bench();
  const { ear, feed } = attach(0);
  feed.start();
  await settle();
  feed.end();
  await publish(2);
  expect(ear.heard).toEqual([]);
  expect([feed.isOver, stream.feeds.size]).toEqual([true, 0]);
});
