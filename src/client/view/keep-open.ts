// A stream that is opened again whenever it was cut, for as long as somebody wants it, and what it says of itself.
import { messageOf } from "../../base/coded-error.ts";
import { type Backoff, delayMs, wait } from "../backoff.ts";
import type { LinkState } from "./types.ts";

export interface StreamState {
  state: LinkState;
  /** Why it is lost. */
  message?: string;
}

export interface KeepOpen {
  signal: AbortSignal;
  tell(state: StreamState): void;
  /** An error behind which trying again is of no use: it is thrown. */
  isFinal(error: unknown): boolean;
  backoff?: Backoff;
}

/** A daemon that is started again is back within a second; one that stays away is asked seldom. */
const BACKOFF: Backoff = { initialMs: 50, maxMs: 2_000 };

/**
 * Runs `stream` until it gives true (there will be nothing more), or the signal says so. It calls `opened` when the
 * daemon has begun to send. That it was cut is told when the next attempt failed too: one stream may end by itself.
 */
export async function keepOpen(
  stream: (opened: () => void) => Promise<boolean>,
  { signal, tell, isFinal, backoff = BACKOFF }: KeepOpen,
): Promise<void> {
  let failures = 0;
  const opened = (): void => {
    failures = 0;
    tell({ state: "live" });
  };
  while (!signal.aborted) {
    let message = "the daemon ended the stream";
    try {
      if (await stream(opened)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
      message = messageOf(error);
    }
    failures += 1;
    if (failures > 1) tell({ state: "lost", message });
    // Aborted: the loop ends.
    await wait(delayMs(backoff, failures), signal).catch(() => undefined);
  }
}

/** Several streams as one link: lost when one is, live when all are. */
export function linkOf(streams: readonly StreamState[]): StreamState {
  const lost = streams.find(({ state }) => state === "lost");
  if (lost !== undefined) return lost;
  return { state: streams.every(({ state }) => state === "live") ? "live" : "connecting" };
}
