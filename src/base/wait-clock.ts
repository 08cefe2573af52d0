// Measures how long at least one of several things has been waited for. Plain data and pure functions; the caller
// supplies the time.

export interface WaitClock {
  /** Total time of finished waits. */
  readonly totalMs: number;
  /** What is being waited for. */
  readonly open: readonly string[];
  /** When the oldest of them started; meaningless while `open` is empty. */
  readonly sinceMs: number;
}

export const NO_WAIT: WaitClock = { totalMs: 0, open: [], sinceMs: 0 };

export function startWait(clock: WaitClock, id: string, atMs: number): WaitClock {
  const { totalMs, open, sinceMs } = clock;
  if (open.includes(id)) return clock;
  return { totalMs, open: [...open, id], sinceMs: open.length === 0 ? atMs : sinceMs };
}

/** Overlapping waits count once. */
export function endWait(clock: WaitClock, id: string, atMs: number): WaitClock {
  const open = clock.open.filter((one) => one !== id);
  if (open.length === clock.open.length) return clock;
  return open.length > 0 ? { ...clock, open } : { ...NO_WAIT, totalMs: computeWaitedMs(clock, atMs) };
}

export function computeWaitedMs({ totalMs, open, sinceMs }: WaitClock, nowMs: number): number {
  return open.length === 0 ? totalMs : totalMs + Math.max(0, nowMs - sinceMs);
}
