// Where the items of the feed lie when only those in sight are drawn.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anchorAt, findTop, indexAt, rangeAt, sumHeights } from "../../web/src/session/list-math.ts";

const heights = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 200 });
const keysOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `k${index}`);
const indexOf = (keys: readonly string[]): Map<string, number> =>
  new Map(keys.map((key, index) => [key, index]));

test("the item at an offset spans it", () => {
  fc.assert(
    fc.property(heights, fc.nat(200_000), (list, y) => {
      const offsets = sumHeights(list);
      const total = offsets.at(-1) ?? 0;
      const index = indexAt(offsets, y);
      if (y >= total) return index === list.length - 1;
      return (offsets[index] ?? 0) <= y && y < (offsets[index + 1] ?? 0);
    }),
  );
});

test("visible items are always in the drawn range, and little more", () => {
  fc.assert(
    fc.property(
      heights,
      fc.nat(100_000),
      fc.integer({ min: 1, max: 2_000 }),
      fc.nat(600),
      (list, at, height, overscan) => {
        const offsets = sumHeights(list);
        const total = offsets.at(-1) ?? 0;
        const top = Math.min(at, Math.max(0, total - height));
        const { from, to } = rangeAt(offsets, top, height, overscan);
        expect(offsets[from] ?? 0).toBeLessThanOrEqual(top);
        expect(offsets[to] ?? 0).toBeGreaterThanOrEqual(Math.min(total, top + height));
        expect(offsets[from + 1] ?? total).toBeGreaterThan(Math.min(total - 1, top - overscan));
        expect(offsets[to - 1] ?? 0).toBeLessThanOrEqual(top + height + overscan);
      },
    ),
  );
});

test("an empty list has no item and nothing to draw", () => {
  const offsets = sumHeights([]);
  expect(indexAt(offsets, 0)).toBe(-1);
  expect(rangeAt(offsets, 0, 800, 600)).toEqual({ from: 0, to: 0 });
  expect(anchorAt([], offsets, 0)).toBeUndefined();
});

test("the reading position stays when items above it grow, go, or come", () => {
  fc.assert(
    fc.property(heights, fc.nat(100_000), heights, fc.nat(199), (list, at, others, cut) => {
      const keys = keysOf(list.length);
      const offsets = sumHeights(list);
      const top = Math.min(at, (offsets.at(-1) ?? 1) - 1);
      const anchor = anchorAt(keys, offsets, top);
      if (anchor === undefined) throw new Error("there is an item");
      const index = keys.indexOf(anchor.key);
      const gone = Math.min(cut, index);
      const before = others.map((_, number) => `new${number}`);
      const nextKeys = [...before, ...keys.slice(gone)];
      const nextOffsets = sumHeights([...others, ...list.slice(gone)]);
      const moved = findTop(anchor, indexOf(nextKeys), nextOffsets);
      // The item's own place has moved by as much as the view.
      expect((moved ?? 0) - (nextOffsets[nextKeys.indexOf(anchor.key)] ?? 0)).toBeCloseTo(
        top - (offsets[index] ?? 0),
        6,
      );
    }),
  );
});

test("an anchor whose item is gone is not guessed", () => {
  expect(findTop({ key: "gone", below: 3 }, new Map([["a", 0]]), sumHeights([10]))).toBeUndefined();
});
