// One holder per key, in the order of the calls.
import { expect, test } from "vitest";
import { KeyedLock } from "../../src/base/keyed-lock.ts";

test("the second of one key waits for the first; another key does not", async () => {
  const locks = new KeyedLock();
  const order: string[] = [];
  const first = await locks.lock("a");
  const second = locks.lock("a").then((release) => {
    order.push("second");
    release();
  });
  const other = await locks.lock("b");
  order.push("other");
  other();
  order.push("first");
  first();
  await second;
  expect(order).toEqual(["other", "first", "second"]);
});

test("many get the lock in the order of their calls", async () => {
  const locks = new KeyedLock();
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3, 4, 5].map(async (n) => {
      const release = await locks.lock("a");
      await Promise.resolve();
      order.push(n);
      release();
    }),
  );
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

test("`free` right after `lock` waits for it, even if the lock is not granted yet", async () => {
  const locks = new KeyedLock();
  let isReleased = false;
  const held = locks.lock("a");
  const free = locks.free("a").then(() => expect(isReleased).toBe(true));
  const release = await held;
  isReleased = true;
  release();
  await free;
});

test("a lock without a holder is free at once and leaves nothing behind", async () => {
  const locks = new KeyedLock();
  await locks.free("a");
  const release = await locks.lock("a");
  expect(locks.size).toBe(1);
  release();
  expect(locks.size).toBe(0);
});
