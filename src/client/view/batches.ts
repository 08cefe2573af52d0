// Collects items into batches, so that a screen draws once for many events. The first is delivered at once, then at
// most one batch per tick.

export interface Batches<T> {
  push(items: readonly T[]): void;
  /** Delivers pending items and ignores later ones. */
  close(): void;
}

/** About 60 per second. */
const TICK_MS = 16;

/** `thin` may drop items that later ones in the batch make redundant. */
export function createBatches<T>(
  listener: (items: readonly T[]) => void,
  thin: (items: readonly T[]) => readonly T[],
  tickMs = TICK_MS,
): Batches<T> {
  let pending: T[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const flush = (): void => {
    const items = thin(pending);
    pending = [];
    listener(items);
  };
  const tick = (): void => {
    timer = undefined;
    if (pending.length === 0) return;
    timer = setTimeout(tick, tickMs);
    flush();
  };
  return {
    push(items) {
      if (isClosed) return;
      for (const item of items) pending.push(item);
      // Items pushed in the same tick belong together.
      timer ??= setTimeout(tick, 0);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      if (pending.length > 0) flush();
    },
  };
}

/** Keeps only the last item of each key, and all items without a key. */
export function keepNewest<T>(items: readonly T[], readKey: (item: T) => string | undefined): readonly T[] {
  const seen = new Set<string>();
  const kept: T[] = [];
  for (const item of items.toReversed()) {
    const key = readKey(item);
    if (key !== undefined && seen.has(key)) continue;
    if (key !== undefined) seen.add(key);
    kept.push(item);
  }
  return kept.reverse();
}
