// A wait that keeps its time also when the daemon dies meanwhile, or is stuck.
import { CodedError } from "../../base/coded-error.ts";

/** The daemon keeps the time itself, and has so long to say that it is over. */
const GRACE_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1 - GRACE_MS;
/** How it looks when nobody answered. */
const UNANSWERED = new Set([
  "aborted",
  "connection_lost",
  "connect_failed",
  "daemon_shutdown",
  "no_answer",
  "no_daemon",
]);

/** `run` gets a signal for a request that is under way, and one for looking for the daemon again. */
export async function inTime<T>(
  leftMs: number,
  signal: AbortSignal | undefined,
  run: (ask: AbortSignal, retry: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const stuck = new AbortController();
  const boundMs = Math.min(leftMs, MAX_TIMER_MS);
  const timers = [
    setTimeout(() => over.abort(), boundMs),
    setTimeout(() => stuck.abort(), boundMs + GRACE_MS),
  ];
  const caller = signal === undefined ? [] : [signal];
  try {
    return await run(AbortSignal.any([...caller, stuck.signal]), AbortSignal.any([...caller, over.signal]));
  } catch (error) {
    const isOver = over.signal.aborted && signal?.aborted !== true;
    if (!isOver || !(error instanceof CodedError) || !UNANSWERED.has(error.code)) throw error;
    throw new CodedError("timeout", "the time is over, and the daemon does not answer", { cause: error });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
