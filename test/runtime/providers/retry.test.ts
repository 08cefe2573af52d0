import { describe, expect, test } from "vitest";
import { readRetryAfter } from "../../../src/runtime/providers/failure.ts";
import { isRetryable, type RetryOptions, withRetry } from "../../../src/runtime/providers/retry.ts";
import {
  ProviderError,
  type ProviderFailure,
  type ProviderFailureKind,
} from "../../../src/runtime/providers/types.ts";

const NEVER = new AbortController().signal;
const failed = (failure: Partial<ProviderFailure> = {}) =>
  new ProviderError({ kind: "server", message: "down", ...failure });

async function waitsOf(error: ProviderError, options: Partial<RetryOptions> = {}): Promise<number[]> {
  const waits: number[] = [];
  const sleep = (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  };
  const attempt = () => Promise.reject(error);
  await expect(withRetry(attempt, { signal: NEVER, random: () => 0, sleep, ...options })).rejects.toBe(error);
  return waits;
}

test("five retries, each after twice the time, and then the error itself", async () => {
  expect(await waitsOf(failed())).toEqual([1000, 2000, 4000, 8000, 16_000]);
  expect(await waitsOf(failed(), { maxRetries: 7 })).toEqual([
    1000, 2000, 4000, 8000, 16_000, 16_000, 16_000,
  ]);
  expect(await waitsOf(failed(), { maxRetries: 0 })).toEqual([]);
});

test("chance adds up to a quarter, so that many clients do not come back together", async () => {
  expect(await waitsOf(failed(), { random: () => 1, maxRetries: 2 })).toEqual([1250, 2500]);
});

test("Retry-After is respected, up to thirty seconds", async () => {
  expect(await waitsOf(failed({ retryAfterMs: 7000 }), { maxRetries: 1 })).toEqual([7000]);
  expect(await waitsOf(failed({ retryAfterMs: 3_600_000 }), { maxRetries: 1 })).toEqual([30_000]);
});

test.each([
  ["3", 3000],
  ["0.5", 500],
  ["Thu, 01 Jan 1970 00:01:40 GMT", 90_000],
  ["Thu, 01 Jan 1970 00:00:01 GMT", 0],
  ["soon", undefined],
  ["-5", undefined],
  ["", undefined],
])("Retry-After: %s is %s ms", (value, ms) => {
  expect(readRetryAfter(new Headers({ "retry-after": value }), 10_000)).toBe(ms);
});

test("retry-after-ms is more exact and wins", () => {
  expect(readRetryAfter(new Headers({ "retry-after": "3", "retry-after-ms": "120" }), 0)).toBe(120);
});

describe("what is retried", () => {
  test.each<[ProviderFailureKind, number | undefined, boolean]>([
    ["rate_limit", 429, true],
    ["server", 500, true],
    ["server", 502, true],
    ["overloaded", 503, true],
    ["overloaded", 529, true],
    ["overloaded", undefined, true],
    ["server", 400, false],
    ["auth", 401, false],
    ["auth", 429, false],
    ["bad_request", 400, false],
    ["not_found", 404, false],
    ["context_too_long", 413, false],
    ["content_filter", 400, false],
    ["protocol", undefined, false],
    ["aborted", undefined, false],
  ])("%s with status %s: %s", (kind, status, expected) => {
    expect(isRetryable(failed({ kind, ...(status === undefined ? {} : { status }) }))).toBe(expected);
  });

  test.each([
    ["ETIMEDOUT", true],
    ["ECONNRESET", true],
    ["ENOTFOUND", true],
    ["EAI_AGAIN", true],
    ["UND_ERR_SOCKET", true],
    ["ECONNREFUSED", false],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", false],
    ["UND_ERR_HEADERS_TIMEOUT", false],
  ])("a connection that fails with %s: %s", (code, expected) => {
    const root = Object.assign(new Error("x"), { code });
    const error = new ProviderError(
      { kind: "network", message: "x" },
      new TypeError("fetch failed", { cause: root }),
    );
    expect(isRetryable(error)).toBe(expected);
    const many = new ProviderError(
      { kind: "network", message: "x" },
      new TypeError("fetch failed", { cause: new AggregateError([root]) }),
    );
    expect(isRetryable(many)).toBe(expected);
  });

  test("nothing that lasts for hours", () => {
    expect(isRetryable(failed({ kind: "rate_limit", status: 429, isLasting: true }))).toBe(false);
  });

  test("a socket that hung up, and nothing that has no cause", () => {
    expect(
      isRetryable(new ProviderError({ kind: "network", message: "x" }, new Error("socket hang up"))),
    ).toBe(true);
    expect(isRetryable(new ProviderError({ kind: "network", message: "sent nothing for 300 s" }))).toBe(
      false,
    );
  });

  test("what is no ProviderError is a bug, and goes through", async () => {
    const bug = new TypeError("oops");
    await expect(withRetry(() => Promise.reject(bug), { signal: NEVER })).rejects.toBe(bug);
  });
});

test("an abort ends a wait at once, with the real clock", async () => {
  const abort = new AbortController();
  const told: number[] = [];
  const onRetry = ({ delayMs }: { delayMs: number }) => {
    told.push(delayMs);
    setImmediate(() => abort.abort());
  };
  const attempt = () => Promise.reject(failed({ retryAfterMs: 30_000 }));
  await expect(withRetry(attempt, { signal: abort.signal, onRetry })).rejects.toMatchObject({
    failure: { kind: "aborted" },
  });
  expect(told).toEqual([30_000]);
});
