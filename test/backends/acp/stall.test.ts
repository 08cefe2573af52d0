// When silence is reported, with a clock that the test moves.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StallWatch } from "../../../src/backends/acp/stall.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(limitMs = 1000) {
  const told: number[] = [];
  const work = { isExcused: false };
  const watch = new StallWatch({
    limitMs,
    isExcused: () => work.isExcused,
    tell: (silentMs) => told.push(silentMs),
  });
  watch.begin();
  return { told, work, watch };
}

test("each silence is reported once, when it is long enough, and not before", async () => {
  const { told, watch } = setUp();
  await vi.advanceTimersByTimeAsync(900);
  watch.heard();
  await vi.advanceTimersByTimeAsync(900);
  expect(told).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(5000);
  expect(told).toHaveLength(1);
  watch.heard();
  await vi.advanceTimersByTimeAsync(2500);
  expect(told).toHaveLength(2);
});

test("a running tool or a question excuses it; when that ends a new silence starts", async () => {
  const { told, work } = setUp();
  work.isExcused = true;
  await vi.advanceTimersByTimeAsync(10_000);
  work.isExcused = false;
  expect(told).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(2100);
  expect(told).toHaveLength(1);
});

test("the end of the turn ends it, and 0 disables it", async () => {
  const { told, watch } = setUp();
  watch.end();
  const never = setUp(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([...told, ...never.told]).toEqual([]);
});
