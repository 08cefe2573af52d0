// The errors with which real ACP agents answer a prompt: one code each, and the agent's own message.
import { describe, expect, test } from "vitest";
import { toFailure } from "../../../src/backends/acp/results.ts";

const INTERNAL = -32603;

describe("an error of an ACP agent", () => {
  test.each([
    [401, "auth_failed"],
    [429, "rate_limited"],
    [500, "model_error"],
    [503, "overloaded"],
  ] as const)("that says only Internal error, with status %s in its data, is %s", (status, code) => {
    const data = { message: `the service said ${status}`, statusCode: status };
    expect(toFailure({ code: INTERNAL, message: "Internal error", data })).toEqual({
      code,
      native_code: INTERNAL,
      message: `Internal error: the service said ${status}`,
      details: data,
    });
  });

  test.each<[string, Parameters<typeof toFailure>[0], object]>([
    [
      "claude-agent-acp names the kind",
      { code: INTERNAL, message: "Internal error: API Error", data: { errorKind: "rate_limit" } },
      { code: "rate_limited", native_code: "rate_limit", message: "Internal error: API Error" },
    ],
    [
      "a kind that is unknown says nothing",
      { code: INTERNAL, message: "Internal error: API Error: 400 x", data: { errorKind: "unknown" } },
      { code: "bad_request", native_code: INTERNAL },
    ],
    [
      "gemini answers with the body of the vendor",
      {
        code: 401,
        message: JSON.stringify({ error: { code: 401, message: "no", status: "UNAUTHENTICATED" } }),
      },
      { code: "auth_failed", native_code: 401, message: "no" },
    ],
    [
      "gemini's wrong key is a bad request to the vendor",
      {
        code: 400,
        message: JSON.stringify({
          error: { message: "x", status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] },
        }),
      },
      { code: "auth_failed", message: "x" },
    ],
    ["gemini's cut stream", { code: 500, message: "terminated" }, { code: "stream_cut" }],
    [
      "demian names the kind",
      { code: INTERNAL, message: "too long", data: { kind: "context_too_long", status: 400 } },
      { code: "context_exceeded", native_code: "context_too_long", message: "too long" },
    ],
    [
      "demian says how long to wait",
      { code: INTERNAL, message: "slow down", data: { kind: "rate_limit", status: 429, retryAfterMs: 2500 } },
      { code: "rate_limited", retry_after_ms: 2500 },
    ],
    [
      "gemini says how long to wait",
      {
        code: 429,
        message: JSON.stringify({
          error: { message: "x", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "12.5s" }] },
        }),
      },
      { code: "rate_limited", message: "x", retry_after_ms: 12_500 },
    ],
    ["ACP's own code", { code: -32000, message: "Go away" }, { code: "auth_failed", native_code: -32000 }],
    [
      "text as data",
      { code: INTERNAL, message: "Internal error", data: "fetch failed" },
      { code: "network" },
    ],
    [
      "a message that only begins like JSON",
      { code: INTERNAL, message: "{oops" },
      { code: "agent_error", message: "{oops" },
    ],
    [
      "text that is already in the message",
      { code: 1, message: "a b", data: { message: "b" } },
      { message: "a b" },
    ],
  ])("%s", (_name, error, failure) => {
    expect(toFailure(error)).toMatchObject(failure);
  });
});
