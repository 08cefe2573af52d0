// Decides whether and when a request to a model is retried. A request is not retried once its answer has started.

import { setTimeout as wait } from "node:timers/promises";
import { defined } from "../../base/values.ts";
import { abortedError, findNetworkCode } from "./failure.ts";
import { ProviderError, type RetryNotice } from "./types.ts";

const DEFAULT_MAX_RETRIES = 5;
const BACKOFF_MS = [1000, 2000, 4000, 8000, 16_000] as const;
const LAST_BACKOFF_MS = 16_000;
const JITTER = 0.25;
const MAX_RETRY_AFTER_MS = 30_000;

/** ECONNREFUSED is not retried: the server is not running, and the user has to start it. */
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
  /** Must settle as soon as the signal aborts; it may resolve or reject. */
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
      const delayMs = computeDelay(retries, failure.retryAfterMs, random);
      onRetry?.({
        attempt: retries + 1,
        maxAttempts: maxRetries,
        delayMs,
        reason: failure.message,
        ...defined({ status: failure.status }),
      });
      await sleep(delayMs, signal).catch(() => undefined); // An abort is checked at the start of the loop.
    }
  }
}

export function isRetryable(error: ProviderError): boolean {
  const { kind, status, isLasting } = error.failure;
  if (isLasting) return false;
  if (kind === "network") return isTransient(error);
  if (status !== undefined && status < 500 && status !== 429) return false;
  return kind === "rate_limit" || kind === "overloaded" || kind === "server";
}

function isTransient(error: ProviderError): boolean {
  const code = findNetworkCode(error);
  if (code !== undefined) return RETRYABLE_CODES.has(code);
  return /socket hang up|other side closed|terminated/i.test(
    String((error.cause as Error | undefined)?.message),
  );
}

function computeDelay(retries: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  const baseMs = BACKOFF_MS[retries] ?? LAST_BACKOFF_MS;
  return Math.round(baseMs * (1 + JITTER * random()));
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}
