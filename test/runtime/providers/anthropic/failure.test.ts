import { describe, expect, test } from "vitest";
import {
  anthropicEvents,
  anthropicReply,
  type ModelServer,
  sse,
  startModelServer,
  status,
} from "../../../support/model-server.ts";
import { abortAtFirstWords, askOf, eachWithServer, failureOf, listen, resolve, retriedAsk } from "../ask.ts";
import { anthropic, block, hear, KEY, start } from "./hear.ts";

let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

describe("failures", () => {
  test.each([
    [
      401,
      { type: "error", error: { type: "authentication_error", message: "invalid key" } },
      "auth",
      /invalid key.*A_KEY/,
    ],
    [
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 300000 tokens > 200000 maximum",
        },
      },
      "context_too_long",
      /compact/,
    ],
    [
      400,
      { type: "error", error: { type: "invalid_request_error", message: "credit" } },
      "bad_request",
      /credit/,
    ],
    [
      404,
      { type: "error", error: { type: "not_found_error", message: "model: x" } },
      "not_found",
      /check the model "m"/,
    ],
    [
      413,
      { type: "error", error: { type: "request_too_large", message: "too big" } },
      "context_too_long",
      /too big/,
    ],
  ])("status %i is reported at once as %s", async (code, body, kind, said) => {
    server.script(status(code, body, { "request-id": "req_9" }));
    const { request, notices } = retriedAsk();
    const failure = await failureOf(listen(anthropic(server.url), request));
    expect(failure).toMatchObject({
      kind,
      status: code,
      requestId: "req_9",
      message: expect.stringMatching(said),
    });
    expect(failure.message).not.toContain(KEY);
    expect(notices).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test("an overloaded server is asked again by our retries, each request once", async () => {
    const busy = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    server.script(
      status(529, busy, { "retry-after": "3" }),
      anthropicEvents(busy),
      ({ cut }) => cut(),
      anthropicReply("now"),
    );
    const { request, notices } = retriedAsk();
    expect((await listen(anthropic(server.url), request)).text).toBe("now");
    expect(notices).toMatchObject([
      { attempt: 1, delayMs: 3000, status: 529 },
      { attempt: 2, reason: expect.stringMatching(/Overloaded/) },
      { attempt: 3 },
    ]);
    expect(server.requests).toHaveLength(4);
  });

  test("an error, a cut or garbage in the middle ends the stream with the text so far", async () => {
    const said = [start, block(0, { type: "text", text: "so far" })] as const;
    const broken = await hear(server, ...said, {
      type: "error",
      error: { type: "api_error", message: "worker died" },
    });
    expect(broken.response).toMatchObject({
      stopReason: "error",
      message: { content: "so far" },
      error: { kind: "server", message: expect.stringMatching(/worker died/) },
    });
    const ended = await hear(server, ...said);
    expect(ended.response).toMatchObject({
      stopReason: "error",
      message: { content: "so far" },
      error: { kind: "network" },
    });
    server.script(async ({ head, write, end }) => {
      head();
      for (const event of said) await write(`event: ${event.type}\n${sse(event)}`);
      await write("event: content_block_delta\ndata: {oops\n\n");
      end();
    });
    const garbage = await listen(anthropic(server.url));
    expect(garbage.response).toMatchObject({
      stopReason: "error",
      message: { content: "so far" },
      error: { kind: "protocol" },
    });
  });

  test("a redirect is not followed, and silence is given up", async () => {
    const other = await startModelServer(anthropicReply("stolen"));
    server.script(status(307, "", { location: `${other.url}/v1/messages` }));
    expect(await failureOf(listen(anthropic(server.url)))).toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(/redirect.*not followed/),
    });
    expect(other.requests).toEqual([]);
    await other.close();
    server.script(() => undefined);
    expect((await failureOf(listen(anthropic(server.url, { idleTimeoutMs: 30 })))).message).toMatch(
      /sent nothing/,
    );
  });

  test("an abort in the middle ends with what was said; before it, it rejects", async () => {
    let gone: Promise<void> | undefined;
    server.script(async (exchange) => {
      ({ gone } = exchange);
      exchange.head();
      for (const event of [start, block(0, { type: "text", text: "so far" })])
        await exchange.write(`event: ${event.type}\n${sse(event)}`);
    });
    expect((await abortAtFirstWords(anthropic(server.url))).at(-1)).toMatchObject({
      type: "done",
      response: { stopReason: "error", message: { content: "so far" }, error: { kind: "aborted" } },
    });
    await gone;
    server.script(() => undefined);
    const waiting = new AbortController();
    const failure = failureOf(listen(anthropic(server.url), askOf({ signal: waiting.signal })));
    await server.request(1);
    waiting.abort();
    expect((await failure).kind).toBe("aborted");
  });

  test("what the environment says about Anthropic does not lead elsewhere", async () => {
    const before = process.env["ANTHROPIC_BASE_URL"];
    process.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9";
    try {
      const urls: string[] = [];
      const fetch: typeof globalThis.fetch = (input) => {
        urls.push(String(input));
        return Promise.resolve(new Response("{}", { status: 401 }));
      };
      const provider = resolve({ type: "anthropic", apiKey: KEY }, { fetch });
      await failureOf(listen(provider));
      expect(urls).toEqual(["https://api.anthropic.com/v1/messages"]);
    } finally {
      if (before === undefined) delete process.env["ANTHROPIC_BASE_URL"];
      else process.env["ANTHROPIC_BASE_URL"] = before;
    }
  });
});
