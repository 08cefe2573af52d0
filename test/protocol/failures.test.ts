// One code for every way a turn can fail, whatever the agent calls it.
import { describe, expect, test } from "vitest";
import { FAILURES, parseRetryAfterMs, toFailureCode } from "../../src/protocol/failures.ts";

describe("the code of a failure", () => {
  test.each([
    [401, "auth_failed"],
    [402, "quota_exhausted"],
    [403, "auth_failed"],
    [404, "model_not_found"],
    [413, "context_exceeded"],
    [429, "rate_limited"],
    [500, "model_error"],
    [503, "overloaded"],
    [529, "overloaded"],
    [400, "bad_request"],
    [200, "agent_error"],
    [undefined, "agent_error"],
  ] as const)("status %s is %s", (status, code) => {
    expect(toFailureCode({ status })).toBe(code);
  });

  test.each([
    ["contextWindowExceeded", "context_exceeded"],
    ["RESOURCE_EXHAUSTED", "rate_limited"],
    ["overloaded_error", "overloaded"],
    ["usageLimitExceeded", "quota_exhausted"],
    ["unauthorized", "auth_failed"],
    ["content_filter", "refused"],
    ["httpConnectionFailed", "network"],
    ["other", "agent_error"],
  ] as const)("the name %s is %s", (name, code) => {
    expect(toFailureCode({ names: [undefined, 7, name] })).toBe(code);
  });

  test.each([
    ["Not logged in · Please run /login", "auth_failed"],
    ["Gemini API key is missing or not configured.", "auth_failed"],
    ["API Error: Request rejected (429) · slow down", "rate_limited"],
    ["API Error: Repeated 529 Overloaded errors.", "overloaded"],
    ["Selected model is at capacity. Please try a different model.", "overloaded"],
    ["stream disconnected before completion: Transport error", "stream_cut"],
    ["connect ECONNREFUSED 127.0.0.1:9", "network"],
    ["terminated", "stream_cut"],
    ["prompt is too long: 210000 tokens > 200000 maximum", "context_exceeded"],
    ["Your credit balance is too low", "quota_exhausted"],
    ["Reconnecting... 1/5", "agent_error"],
    ["Warning: Model metadata for `x-model` not found.", "agent_error"],
    ["the disk is full", "agent_error"],
    ["", "agent_error"],
  ] as const)("the message %j is %s", (words, code) => {
    expect(toFailureCode({ words })).toBe(code);
  });

  test("an exact name outranks the status, a status the message, and the message a vague name", () => {
    expect(toFailureCode({ names: ["insufficient_quota"], status: 429 })).toBe("quota_exhausted");
    expect(toFailureCode({ status: 429, words: "unauthorized" })).toBe("rate_limited");
    expect(toFailureCode({ names: ["server_error"], words: "fetch failed" })).toBe("network");
    expect(toFailureCode({ names: ["invalid_request_error"], status: 401 })).toBe("auth_failed");
    expect(toFailureCode({ names: ["invalid_request_error"], status: 400 })).toBe("bad_request");
  });

  test.each([
    ["Rate limit reached. Please try again in 11.054s.", 11_054],
    ["try again in 300ms", 300],
    ["Retry after 2 minutes", 120_000],
    ["try again in 1 hour", 3_600_000],
    ["try again later", undefined],
    ["try again in 5 moons", undefined],
  ] as const)("%j says to wait %s ms", (words, waitMs) => {
    expect(parseRetryAfterMs(words)).toBe(waitMs);
  });

  test("every code has a meaning that is a sentence", () => {
    for (const meaning of Object.values(FAILURES)) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});
