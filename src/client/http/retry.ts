// A request that is repeated when the connection was cut: a daemon that is killed and started again meanwhile is
// found again. Only for requests that do the same when they are carried out twice.
import { CodedError } from "../../base/coded-error.ts";
import { type Backoff, delayMs, wait } from "../backoff.ts";

export interface RetryOptions {
  backoff: Backoff | false;
  signal?: AbortSignal | undefined;
  onRetry?: ((cause: CodedError, attempt: number) => void) | undefined;
}

/** About 15 seconds: a restart takes less. */
export const DEFAULT_RETRY: Backoff = { initialMs: 50, maxMs: 1_000, attempts: 20 };

const NEVER = new AbortController().signal;
/** The daemon went away, or is about to and has done nothing. */
const CUT = new Set(["connection_lost", "daemon_shutdown"]);
/** It is not back yet. */
const NOT_BACK = new Set([...CUT, "no_daemon", "connect_failed"]);

/** A daemon that is not there at the first attempt is news for the caller, and not waited for. */
export async function retried<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  let cause: CodedError;
  try {
    return await attempt();
  } catch (error) {
    if (!isCut(error)) throw error;
    cause = error;
  }
  return untilBack(attempt, cause, options);
}

/** For what was up before: tries until the daemon is back, or the attempts are used up. */
export async function untilBack<T>(
  attempt: () => Promise<T>,
  first: CodedError,
  { backoff, signal = NEVER, onRetry }: RetryOptions,
): Promise<T> {
  let cause = first;
  if (backoff === false) throw cause;
  for (let count = 1; count <= (backoff.attempts ?? Number.POSITIVE_INFINITY); count += 1) {
    onRetry?.(cause, count);
    await wait(delayMs(backoff, count), signal).catch(() => {
      throw new CodedError("aborted", "aborted by the caller");
    });
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof CodedError) || !NOT_BACK.has(error.code)) throw error;
      cause = error;
    }
  }
  throw cause;
}

export function isCut(error: unknown): error is CodedError {
  return error instanceof CodedError && CUT.has(error.code);
}
