// When a request to a model is made again, and after how long. It is not made again once an answer has begun.
import { setTimeout as wait } from "node:timers/promises";
import { abortedError, networkCodeOf } from "./failure.ts";
import { ProviderError, type RetryNotice } from "./types.ts";

const DEFAULT_MAX_RETRIES = 5;
const BACKOFF_MS = [1000, 2000, 4000, 8000, 16_000] as const;
const LAST_BACKOFF_MS = 16_000;
const JITTER = 0.25;
const MAX_RETRY_AFTER_MS = 30_000;

/** A refused connection is not here: nothing listens, and a person has to start it. */
const RETRYABLE_CODES: ReadonlySet<string> = new Set([
  "ETIMEDOUT",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export interface RetryOptions {
  signal: AbortSignal;
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  maxRetries?: number | undefined;
  random?: (() => number) | undefined;
  /** Ends at once when the signal aborts; whether by returning or by throwing does not matter. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Rejects with the last `ProviderError`, or with one of the kind "aborted". */
export async function withRetry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, onRetry, maxRetries = DEFAULT_MAX_RETRIES } = options;
  const random = options.random ?? Math.random;
  const sleep = options.sleep ?? sleepUntilAborted;
  for (let retries = 0; ; retries += 1) {
    if (signal.aborted) throw abortedError();
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw abortedError();
      if (!(error instanceof ProviderError) || retries >= maxRetries || !isRetryable(error)) throw error;
      const { failure } = error;
      const delayMs = delayFor(retries, failure.retryAfterMs, random);
      onRetry?.({
        attempt: retries + 1,
        maxAttempts: maxRetries,
        delayMs,
        reason: failure.message,
        ...(failure.status === undefined ? {} : { status: failure.status }),
      });
      await sleep(delayMs, signal).catch(() => undefined); // What ended it early is asked of the signal.
    }
  }
}

export function isRetryable(error: ProviderError): boolean {
  const { kind, status, isLasting } = error.failure;
  if (isLasting) return false;
  if (kind === "network") return isPassing(error);
  if (status !== undefined && status < 500 && status !== 429) return false;
  return kind === "rate_limit" || kind === "overloaded" || kind === "server";
}

function isPassing(error: ProviderError): boolean {
  const code = networkCodeOf(error);
  if (code !== undefined) return RETRYABLE_CODES.has(code);
  return /socket hang up|other side closed|terminated/i.test(
    String((error.cause as Error | undefined)?.message),
  );
}

function delayFor(retries: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  const baseMs = BACKOFF_MS[retries] ?? LAST_BACKOFF_MS;
  return Math.round(baseMs * (1 + JITTER * random()));
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}
