// Reopens a stream whenever it is lost, and reports its state.
import { toMessage } from "../../base/coded-error.ts";
import { type Backoff, computeDelayMs, RESTART_BACKOFF, wait } from "../backoff.ts";
import type { LinkState } from "./types.ts";

export interface StreamState {
  state: LinkState;
  /** Why it was lost. */
  message?: string;
}

export interface KeepOpen {
  signal: AbortSignal;
  report(state: StreamState): void;
  /** Errors that are not retried but thrown. */
  isFinal(error: unknown): boolean;
  backoff?: Backoff;
}

/** A restart of the daemon takes less. */
const GRACE_MS = 3_000;
/** After the attempts of RESTART_BACKOFF: the daemon may be away for hours. */
const LONG_BACKOFF: Backoff = { initialMs: 2_000, maxMs: 2_000 };

/**
 * Runs `stream` until it returns true (finished) or the signal aborts. It calls `opened` when the stream has started. A
 * loss is reported only if the stream has not started again after a while, so that a restart of the daemon is not visible.
 */
export async function keepOpen(
  stream: (onOpened: () => void) => Promise<boolean>,
  { signal, report, isFinal, backoff }: KeepOpen,
): Promise<void> {
  let failures = 0;
  let message = "";
  let isLost = false;
  let grace: ReturnType<typeof setTimeout> | undefined;
  const reportLoss = (): void => {
    isLost = true;
    report({ state: "lost", message });
  };
  const onOpened = (): void => {
    failures = 0;
    isLost = false;
    clearTimeout(grace);
    grace = undefined;
    report({ state: "live" });
  };
  try {
    while (!signal.aborted) {
      message = "the daemon ended the stream";
      try {
        if (await stream(onOpened)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) throw error;
        message = toMessage(error);
      }
      failures += 1;
      if (isLost) reportLoss();
      else grace ??= setTimeout(reportLoss, GRACE_MS);
      const usual = failures <= RESTART_BACKOFF.attempts ? RESTART_BACKOFF : LONG_BACKOFF;
      // On abort the loop ends.
      await wait(computeDelayMs(backoff ?? usual, failures), signal).catch(() => undefined);
    }
  } finally {
    clearTimeout(grace);
  }
}

/** Lost if any stream is, live if all are. */
export function combineStates(streams: readonly StreamState[]): StreamState {
  const lost = streams.find(({ state }) => state === "lost");
  if (lost !== undefined) return lost;
  return { state: streams.every(({ state }) => state === "live") ? "live" : "connecting" };
}
