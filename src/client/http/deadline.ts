// Enforces a deadline even if the daemon dies or is stuck.
import { CodedError } from "../../base/coded-error.ts";

/** The daemon enforces the deadline too; it has this long to report it. */
const GRACE_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1 - GRACE_MS;
/** Errors that mean the daemon did not answer. */
const UNANSWERED = new Set([
  "aborted",
  "connection_lost",
  "connect_failed",
  "daemon_shutdown",
  "no_answer",
  "no_daemon",
]);

/** `run` gets one signal for a request in progress and one for reconnecting. */
export async function withDeadline<T>(
  leftMs: number,
  signal: AbortSignal | undefined,
  run: (sending: AbortSignal, searching: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const stuck = new AbortController();
  const limitMs = Math.min(leftMs, MAX_TIMER_MS);
  const timers = [
    setTimeout(() => over.abort(), limitMs),
    setTimeout(() => stuck.abort(), limitMs + GRACE_MS),
  ];
  const caller = signal === undefined ? [] : [signal];
  try {
    return await run(AbortSignal.any([...caller, stuck.signal]), AbortSignal.any([...caller, over.signal]));
  } catch (error) {
    const isOver = over.signal.aborted && signal?.aborted !== true;
    if (!isOver || !(error instanceof CodedError) || !UNANSWERED.has(error.code)) throw error;
    throw new CodedError("timeout", "timed out; the daemon is not responding", { cause: error });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
