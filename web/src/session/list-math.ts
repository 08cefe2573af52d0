// Geometry of a virtualized list: heights are measured once drawn and estimated before. Used by feed.ts.

/** `offsets[i]` is the top of item i; the last one is the total height. */
export function sumHeights(heights: readonly number[]): Float64Array {
  const offsets = new Float64Array(heights.length + 1);
  let sum = 0;
  for (const [index, height] of heights.entries()) {
    sum += height;
    offsets[index + 1] = sum;
  }
  return offsets;
}

/** The item at this offset, or the nearest; -1 if the list is empty. */
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

export interface RowRange {
  from: number;
  /** Exclusive. */
  to: number;
}

/** Items to draw for this viewport, with `overscan` pixels on both sides. */
export function rangeAt(offsets: Float64Array, top: number, height: number, overscan: number): RowRange {
  const from = indexAt(offsets, top - overscan);
  if (from === -1) return { from: 0, to: 0 };
  return { from, to: indexAt(offsets, top + height + overscan) + 1 };
}

/** A scroll position relative to an item, so that it survives changes above. */
export interface Anchor {
  key: string;
  below: number;
}

export function anchorAt(keys: readonly string[], offsets: Float64Array, top: number): Anchor | undefined {
  const index = indexAt(offsets, top);
  const key = keys[index];
  return key === undefined ? undefined : { key, below: top - (offsets[index] ?? 0) };
}

/** The scroll position of an anchor; undefined if its item is gone. */
export function findTop(
  anchor: Anchor,
  indexOfKey: ReadonlyMap<string, number>,
  offsets: Float64Array,
): number | undefined {
  const index = indexOfKey.get(anchor.key);
  return index === undefined ? undefined : (offsets[index] ?? 0) + anchor.below;
}
