// Reopens a stream whenever it is lost, and reports its state.
import { toMessage } from "../../base/coded-error.ts";
import { type Backoff, delayMs, wait } from "../backoff.ts";
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

/** A restarted daemon is back within a second. */
const BACKOFF: Backoff = { initialMs: 50, maxMs: 2_000 };

/**
 * Runs `stream` until it returns true (finished) or the signal aborts. It calls `opened` when the stream has started. A
 * loss is reported only if the next attempt fails too, because a stream may end by itself.
 */
export async function keepOpen(
  stream: (onOpened: () => void) => Promise<boolean>,
  { signal, report, isFinal, backoff = BACKOFF }: KeepOpen,
): Promise<void> {
  let failures = 0;
  const onOpened = (): void => {
    failures = 0;
    report({ state: "live" });
  };
  while (!signal.aborted) {
    let message = "the daemon ended the stream";
    try {
      if (await stream(onOpened)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
      message = toMessage(error);
    }
    failures += 1;
    if (failures > 1) report({ state: "lost", message });
    // On abort the loop ends.
    await wait(delayMs(backoff, failures), signal).catch(() => undefined);
  }
}

/** Lost if any stream is, live if all are. */
export function combineStates(streams: readonly StreamState[]): StreamState {
  const lost = streams.find(({ state }) => state === "lost");
  if (lost !== undefined) return lost;
  return { state: streams.every(({ state }) => state === "live") ? "live" : "connecting" };
}
