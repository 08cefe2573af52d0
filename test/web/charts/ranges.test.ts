import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketStarts, createTicks, findSpan, fittingRange, RANGES } from "../../../web/src/charts/ranges.ts";

describe("buckets of a span", () => {
  test("cover all of it without a hole, in every range and at every time", () => {
    fc.assert(
      fc.property(fc.constantFrom(...RANGES), fc.integer({ min: 0, max: 4e12 }), (range, now) => {
        const span = findSpan(range, now);
        const starts = bucketStarts(range, span);
        expect(starts[0]).toBeLessThanOrEqual(span.from_ms);
        expect(starts.at(-1)).toBeLessThanOrEqual(span.to_ms);
        expect(starts.length).toBeLessThanOrEqual(32);
        for (const [at, start] of starts.entries())
          if (at > 0) expect(start).toBeGreaterThan(starts[at - 1] ?? 0);
      }),
    );
  });

  test("start at the wall clock's day or hour", () => {
    const now = new Date(2026, 9, 27, 12, 34, 56).getTime();
    const days = bucketStarts("week", findSpan("week", now));
    const midnights = Array.from({ length: 8 }, (_, at) => new Date(2026, 9, 20 + at).getTime());
    expect(days).toEqual(midnights);
    const hours = bucketStarts("day", findSpan("day", now));
    expect(hours.map((start) => new Date(start).getMinutes())).toEqual(Array.from({ length: 25 }, () => 0));
  });
});

describe("the range that is shown first", () => {
  const HOUR_MS = 3_600_000;
  const now = new Date(2026, 2, 10, 12).getTime();
  test.each([
    [[], "day"],
    [[0.2, 0.9], "hour"],
    [[0.2, 1.1], "day"],
    [[30], "week"],
    [[24 * 8], "day"],
  ] as const)("for what is %j hours old is the %s", (hours, range) => {
    expect(
      fittingRange(
        hours.map((age) => now - age * HOUR_MS),
        now,
        "day",
      ),
    ).toBe(range);
  });
});

describe("ticks of an axis", () => {
  test("lie in the span and are not more than there is room for", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RANGES),
        fc.integer({ min: 1e12, max: 2e12 }),
        fc.integer({ min: 2, max: 12 }),
        (range, now, most) => {
          const span = findSpan(range, now);
          const ticks = createTicks(range, span, most);
          expect(ticks.length).toBeGreaterThan(0);
          expect(ticks.length).toBeLessThanOrEqual(most);
          for (const tick of ticks) expect(tick >= span.from_ms && tick <= span.to_ms).toBe(true);
        },
      ),
    );
  });
});
