// Repeats requests whose connection was lost, until a restarted daemon is back.
import { CodedError } from "../../base/coded-error.ts";
import { type Backoff, computeDelayMs, wait } from "../backoff.ts";

export interface RetryOptions {
  backoff: Backoff | false;
  signal?: AbortSignal | undefined;
  onRetry?: ((cause: CodedError, attempt: number) => void) | undefined;
  /** A daemon was running before: retries also if none answers the first attempt. */
  expectsDaemon?: boolean | undefined;
}

/** About 15 seconds, longer than a restart takes. */
export const DEFAULT_RETRY: Backoff = { initialMs: 50, maxMs: 1_000, attempts: 20 };

const NEVER = new AbortController().signal;
/** The daemon went away, or is shutting down and did nothing. */
const CUT = new Set(["connection_lost", "daemon_shutdown"]);
/** The daemon is not back yet. */
const NOT_BACK = new Set([...CUT, "no_daemon", "connect_failed"]);

/** For requests that are safe to repeat. Fails at once if no daemon is running at the first attempt, unless one is expected. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  let cause: CodedError;
  try {
    return await attempt();
  } catch (error) {
    const isWorthIt = options.expectsDaemon === true ? isAway : isCut;
    if (!isWorthIt(error)) throw error;
    cause = error;
  }
  return retryUntilBack(attempt, cause, options);
}

/** Tries until the daemon is back or the attempts are used up. */
export async function retryUntilBack<T>(
  attempt: () => Promise<T>,
  first: CodedError,
  { backoff, signal = NEVER, onRetry }: RetryOptions,
): Promise<T> {
  let cause = first;
  if (backoff === false) throw cause;
  for (let count = 1; count <= (backoff.attempts ?? Number.POSITIVE_INFINITY); count += 1) {
    onRetry?.(cause, count);
    await wait(computeDelayMs(backoff, count), signal).catch(() => {
      throw new CodedError("aborted", "aborted by the caller");
    });
    try {
      return await attempt();
    } catch (error) {
      if (!isAway(error)) throw error;
      cause = error;
    }
  }
  throw cause;
}

function isAway(error: unknown): error is CodedError {
  return error instanceof CodedError && NOT_BACK.has(error.code);
}

export function isCut(error: unknown): error is CodedError {
  return error instanceof CodedError && CUT.has(error.code);
}
