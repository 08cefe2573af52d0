// Delay before the next connection attempt: exponential, capped, with jitter so that clients of a restarted daemon do
// not reconnect at the same time.

export interface Backoff {
  initialMs: number;
  maxMs: number;
  /** Consecutive attempts before giving up; unlimited by default. */
  attempts?: number;
}

export const DEFAULT_BACKOFF: Backoff = { initialMs: 100, maxMs: 5_000 };

/**
 * For screens, about four seconds. A replaced daemon is back within half a second, one that a service manager restarts
 * after a crash within three.
 */
export const RESTART_BACKOFF: Backoff & { attempts: number } = { initialMs: 50, maxMs: 250, attempts: 24 };

/** `attempt` counts from 1; the delay is between half and all of the exponential value. */
export function computeDelayMs(
  backoff: Backoff,
  attempt: number,
  random: () => number = Math.random,
): number {
  const full = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}

/** Resolves after the delay; rejects with the signal's reason if it is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
