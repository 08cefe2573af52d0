// At most N in any window; the rest is counted.
import fc from "fast-check";
import { expect, test } from "vitest";
import { RateLimit } from "../../src/base/rate-limit.ts";

test("the limit passes, the next one is refused and counted", () => {
  const limit = new RateLimit(2, 1000);
  expect([0, 1, 2, 3].map((at) => limit.allow(at))).toEqual([true, true, false, false]);
  expect(limit.takeRefused()).toBe(2);
  expect(limit.takeRefused()).toBe(0);
});

test("the window slides: room comes back one by one", () => {
  const limit = new RateLimit(2, 1000);
  expect([0, 600, 999, 1000, 1001, 1600].map((at) => limit.allow(at))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test("no window of any length holds more than the limit", () => {
  const steps = fc.array(fc.nat(400), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (most, gaps) => {
      const limit = new RateLimit(most, 1000);
      const passed: number[] = [];
      let now = 0;
      let refused = 0;
      for (const gap of gaps) {
        now += gap;
        if (limit.allow(now)) passed.push(now);
        else refused += 1;
      }
      for (const at of passed) {
        expect(passed.filter((time) => time > at - 1000 && time <= at).length).toBeLessThanOrEqual(most);
      }
      expect(limit.takeRefused()).toBe(refused);
    }),
  );
});
