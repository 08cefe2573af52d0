// Collects what comes one by one and hands it on in batches, so that a screen draws once for many events. The first is
// handed on at once; behind it at most one batch a tick.

export interface Batches<T> {
  push(items: readonly T[]): void;
  /** Hands on what is there, and nothing more from now on. */
  close(): void;
}

/** About sixty a second. */
const TICK_MS = 16;

/** `thin` may leave out what later items of the same batch make needless. */
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
      // What is pushed in one go belongs together, so "at once" is behind it.
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

/** Leaves out items whose key comes again behind them; undefined: it is never needless. */
export function keepNewest<T>(items: readonly T[], keyOf: (item: T) => string | undefined): readonly T[] {
  const seen = new Set<string>();
  const kept: T[] = [];
  for (const item of items.toReversed()) {
    const key = keyOf(item);
    if (key !== undefined && seen.has(key)) continue;
    if (key !== undefined) seen.add(key);
    kept.push(item);
  }
  return kept.reverse();
}
