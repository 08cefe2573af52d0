import { describe, expect, test } from "vitest";
import { readCodexFailure } from "../../../../src/runtime/providers/codex/fault.ts";
import { bytes, type Reply, status } from "../../../support/model-server.ts";
import { created, message, responsesEvents, responsesReply } from "../../../support/responses.ts";
import { failureOf, listen, retriedAsk } from "../ask.ts";
import { eachOnGround, type Ground, jwt, loginFile } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const failing = (code: string, text = `mock failed ${code}`): Reply =>
  responsesEvents(created, {
    type: "response.failed",
    response: { status: "failed", error: { code, message: text } },
  });
const failure = (reply: Reply) => {
  ground.server.script(reply);
  return failureOf(listen(ground.provider({ maxRetries: 0 })));
};

describe("what the vendor says is wrong", () => {
  test.each([
    ["context_length_exceeded", "context_too_long"],
    ["rate_limit_exceeded", "rate_limit"],
    ["server_is_overloaded", "overloaded"],
    ["slow_down", "overloaded"],
    ["invalid_prompt", "bad_request"],
    ["insufficient_quota", "auth"],
    ["server_error", "server"],
  ])("response.failed with %s is %s", async (code, kind) => {
    expect(await failure(failing(code))).toMatchObject({
      kind,
      message: expect.stringContaining("mock failed"),
    });
  });

  test.each([
    ["an event of its own", { type: "error", code: "context_length_exceeded", message: "too long" }],
    [
      "an error in an event",
      { type: "error", error: { code: "context_length_exceeded", message: "too long" } },
    ],
  ])("%s is understood", async (_, event) => {
    expect(await failure(responsesEvents(created, event))).toMatchObject({ kind: "context_too_long" });
  });

  test.each([
    [400, { error: { code: "invalid_prompt", message: "no" } }, "bad_request"],
    [400, { detail: "Unsupported parameter: x" }, "bad_request"],
    [403, { error: { type: "usage_not_included", message: "not in your plan" } }, "auth"],
    [404, { error: { message: "no such model", code: "model_not_found" } }, "not_found"],
    [503, { error: { code: "server_is_overloaded", message: "busy" } }, "overloaded"],
  ])("status %s with %j is %s", async (code, body, kind) => {
    expect(await failure(status(code, body))).toMatchObject({ kind, status: code });
  });

  test("after the first word it ends the answer and is not asked again", async () => {
    const event = { type: "response.failed", response: { error: { code: "server_error", message: "oops" } } };
    ground.server.script(responsesEvents(created, ...message(0, "so far"), event));
    const { response } = await listen(ground.provider());
    expect(response).toMatchObject({
      stopReason: "error",
      error: { kind: "server" },
      message: { content: "so far" },
    });
    expect(ground.server.requests).toHaveLength(1);
  });

  test("before it, what may pass is asked again, after the time that its text names", async () => {
    ground.server.script(
      failing("rate_limit_exceeded", "Rate limit reached. Please try again in 11.5s."),
      status(503, "busy"),
      responsesReply("ok"),
    );
    const { request, notices } = retriedAsk();
    expect((await listen(ground.provider(), request)).text).toBe("ok");
    expect(notices.map(({ delayMs }) => delayMs)[0]).toBe(11_500);
    expect(notices).toHaveLength(2);
  });
});

describe("the usage limit of a plan", () => {
  const now = Date.UTC(2026, 10, 16, 8, 0, 0);
  const place = { key: "codex", url: "https://x.example", model: "m", secrets: [] };
  const said = (error: object) =>
    readCodexFailure(place, { status: 429, headers: new Headers(), text: JSON.stringify({ error }) }, now);
  const limit = {
    type: "usage_limit_reached",
    message: "The usage limit has been reached",
    plan_type: "plus",
  };

  test("is reported with the time at which it resets", () => {
    const { message: text, ...rest } = said({ ...limit, resets_at: now / 1000 + 7200 });
    expect(rest).toEqual({ kind: "rate_limit", status: 429, retryAfterMs: 7_200_000, isLasting: true });
    const at = new Date(now + 7_200_000);
    const clock = `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
    expect(text).toMatch(
      /^the provider codex reports that your plan's usage limit \(plus\) is reached; it resets at 2026-11-1\d /,
    );
    expect(text).toContain(`${clock} (in 2 h), or choose another provider`);
  });

  test.each([
    [{ resets_in_seconds: 90 }, /\(in 2 min\)/],
    [{ resets_in_seconds: 432_000 }, /\(in 5 days\)/],
    [{}, /try again later/],
    [{ resets_at: "soon" }, /try again later/],
  ])("with %j", (more, text) => {
    expect(said({ ...limit, ...more }).message).toMatch(text);
  });

  test("is not retried, in a stream or before it", async () => {
    const { request, notices } = retriedAsk();
    ground.server.script(
      status(429, { error: limit }, { "retry-after": "1" }),
      failing("usage_limit_reached"),
    );
    for (const round of [1, 2]) {
      const { kind } = await failureOf(listen(ground.provider(), request));
      expect([round, kind, notices.length, ground.server.requests.length]).toEqual([
        round,
        "rate_limit",
        0,
        round,
      ]);
    }
  });
});

test("no token of the login is ever in a message, though the vendor repeats it", async () => {
  const { access_token, refresh_token, id_token } = ground.read().tokens as Record<string, string>;
  const echo = `bad token ${access_token} ${refresh_token} ${id_token}`;
  const { message: text } = await failure(status(400, { error: { message: echo } }));
  expect(text).toContain("bad token [key] [key] [key]");
});

describe("of a token as long as the vendor's", () => {
  const token = jwt(9999, { padding: "secret of the claims ".repeat(120) });
  const lines = "x".repeat(1950);
  const forms: [string, (secret: string) => Reply][] = [
    ["a status with its code", (secret) => status(400, { error: { message: `${lines} ${secret}` } })],
    ["a status with a text", (secret) => status(500, `${lines} ${secret}`)],
    ["the id of the request", (secret) => status(400, {}, { "x-request-id": secret })],
    ["an event", (secret) => failing("server_error", `hello ${secret}`)],
    ["the plan", (secret) => status(429, { error: { type: "usage_limit_reached", plan_type: secret } })],
    ["something that is not JSON", (secret) => bytes(`data: {${"x".repeat(50)} ${secret}\n\n`)],
    ["something other than events", (secret) => bytes(`hello ${secret}\n`)],
    ["a web page", (secret) => bytes(`<html><title>hello ${secret}</title>`)],
  ];
  const places = ["access_token", "id_token"];
  test.each(places.flatMap((place) => forms.map(([form, reply]) => [place, form, reply] as const)))(
    "no part is shown that a cut left over: %s in %s",
    async (place, _, reply) => {
      ground.write(loginFile({ [place]: token }));
      const said = JSON.stringify(await failure(reply(token)));
      const parts = Array.from({ length: token.length - 16 }, (_, at) => token.slice(at, at + 16));
      expect(
        parts.some((part) => said.includes(part)),
        said,
      ).toBe(false);
    },
  );
});

test("a redirect is not followed: the login would go along", async () => {
  const { message: text } = await failure(({ head, end }) => {
    head(302, { location: "https://elsewhere.example/" });
    end();
  });
  expect(text).toMatch(/redirect to https:\/\/elsewhere\.example/);
});
