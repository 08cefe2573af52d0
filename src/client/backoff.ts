// How long to wait before the next attempt to connect: doubling, capped, with jitter so that many clients of a
// restarted daemon do not come back in step.

export interface Backoff {
  initialMs: number;
  maxMs: number;
  /** Give up after so many attempts in a row; endless when absent. */
  attempts?: number;
}

export const DEFAULT_BACKOFF: Backoff = { initialMs: 100, maxMs: 5_000 };

/** `attempt` counts from 1; the delay is between half and all of the doubled value. */
export function delayMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}

/** Resolves after the delay; rejects with the signal's reason when it is aborted. */
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
