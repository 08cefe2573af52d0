// Where the items of a long list lie, when only those in sight are drawn: heights are measured once drawn and guessed
// before. Pure; feed.ts does the drawing.

/** `offsets[i]` is where item i begins; the last one is the height of all. */
export function offsetsOf(heights: readonly number[]): Float64Array {
  const offsets = new Float64Array(heights.length + 1);
  let sum = 0;
  for (const [index, height] of heights.entries()) {
    sum += height;
    offsets[index + 1] = sum;
  }
  return offsets;
}

/** The item at this height; the nearest one outside of the list, -1 when there is none. */
export function indexAt(offsets: Float64Array, y: number): number {
  let low = 0;
  let high = offsets.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return high < 0 ? -1 : low;
}

export interface Range {
  from: number;
  /** Exclusive. */
  to: number;
}

/** What is to be drawn for this piece of the list, with `overscan` pixels on both sides. */
export function rangeAt(offsets: Float64Array, top: number, height: number, overscan: number): Range {
  const from = indexAt(offsets, top - overscan);
  if (from === -1) return { from: 0, to: 0 };
  return { from, to: indexAt(offsets, top + height + overscan) + 1 };
}

/** A place in the list that stays the same when others above it change: so many pixels below the top of an item. */
export interface Anchor {
  key: string;
  below: number;
}

export function anchorAt(keys: readonly string[], offsets: Float64Array, top: number): Anchor | undefined {
  const index = indexAt(offsets, top);
  const key = keys[index];
  return key === undefined ? undefined : { key, below: top - (offsets[index] ?? 0) };
}

/** Where to scroll so that the anchor is where it was; undefined when its item is gone. */
export function topOf(
  anchor: Anchor,
  indexOfKey: ReadonlyMap<string, number>,
  offsets: Float64Array,
): number | undefined {
  const index = indexOfKey.get(anchor.key);
  return index === undefined ? undefined : (offsets[index] ?? 0) + anchor.below;
}
