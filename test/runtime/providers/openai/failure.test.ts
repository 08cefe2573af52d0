import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import {
  bytes,
  chatReply,
  chunk,
  type ModelServer,
  sse,
  startModelServer,
  status,
} from "../../../support/model-server.ts";
import {
  abortAtFirstWords,
  askOf,
  eachWithServer,
  failureOf,
  fetchOf,
  listen,
  openai,
  resolve,
  retriedAsk,
} from "../ask.ts";

const KEY = "sk-very-secret-0123456789";
let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

const keyed = () =>
  resolve(
    { type: "openai-compatible", baseURL: server.url, apiKeyEnv: "MY_KEY", maxRetries: 0 },
    { env: { MY_KEY: KEY } },
  );

describe("an answer that is no success", () => {
  test.each([
    [
      401,
      { error: { message: "Incorrect API key", code: "invalid_api_key" } },
      "auth",
      /Incorrect API key.*check the key in MY_KEY/,
    ],
    [403, { error: { message: "not for you" } }, "auth", /not for you/],
    [402, { error: { message: "pay first" } }, "auth", /pay first/],
    [
      404,
      { error: { message: "no such model", code: "model_not_found" } },
      "not_found",
      /check the model "m"/,
    ],
    [404, "404 page not found", "not_found", /404 page not found/],
    [
      400,
      { error: { message: "bad temperature", type: "invalid_request_error" } },
      "bad_request",
      /bad temperature.*providers\.vendor/,
    ],
    [
      400,
      {
        error: {
          message: "This model's maximum context length is 8192 tokens",
          code: "context_length_exceeded",
        },
      },
      "context_too_long",
      /compact/,
    ],
    [
      400,
      {
        error: {
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
        },
      },
      "context_too_long",
      /compact/,
    ],
    [400, { error: { message: "Input is too long: 9000 tokens" } }, "context_too_long", /too long/],
    [413, "", "context_too_long", /no reason/],
    [422, { detail: [{ loc: ["body"], msg: "field required" }] }, "bad_request", /field required/],
    [429, { error: { message: "slow down" } }, "rate_limit", /slow down/],
    [429, { error: { message: "no credit", code: "insufficient_quota" } }, "auth", /no credit/],
    [500, { error: "exploded" }, "server", /exploded/],
    [502, "<html><title>502 Bad Gateway</title></html>", "server", /502 Bad Gateway/],
    [503, [{ error: { code: 503, message: "busy", status: "UNAVAILABLE" } }], "overloaded", /: busy; try/],
    [529, {}, "overloaded", /status 529/],
    [
      400,
      { error: { message: "Provider returned error", metadata: { raw: "upstream says no" } } },
      "bad_request",
      /upstream says no/,
    ],
    [418, { errors: [{ message: "a teapot" }] }, "bad_request", /a teapot/],
  ])("%i with %j is %s", async (code, body, kind, said) => {
    server.script(status(code, body, { "x-request-id": "req-7" }));
    const failure = await failureOf(listen(keyed()));
    expect(failure).toMatchObject({
      kind,
      status: code,
      requestId: "req-7",
      message: expect.stringMatching(said),
    });
    expect(failure.message).toMatch(/^the provider vendor /);
  });

  test("no key is in a failure, however the vendor repeats it", async () => {
    const provider = resolve({
      type: "openai-compatible",
      baseURL: server.url,
      apiKey: KEY,
      headers: { "X-Other": "other-secret-1" },
      maxRetries: 0,
    });
    for (const text of [
      `bad key ${KEY}`,
      `Authorization: Bearer ${KEY}`,
      "got other-secret-1",
      "sk-proj-abcdefgh12345678",
      `<title>${KEY}</title>`,
    ]) {
      server.script(status(401, text), status(200, { error: { message: text } }));
      const messages = [
        (await failureOf(listen(provider))).message,
        (await failureOf(provider.chat(askOf()))).message,
      ];
      expect(messages.join()).not.toMatch(/very-secret|other-secret|abcdefgh/);
      expect(messages[0]).toContain("[key]");
    }
  });

  test("a long error is cut, and an endless one is not read to its end", async () => {
    server.script(status(400, { error: { message: "x".repeat(100_000) } }));
    expect((await failureOf(listen(keyed()))).message.length).toBeLessThan(1000);
    let gone: Promise<void> | undefined;
    server.script(async (exchange) => {
      ({ gone } = exchange);
      exchange.head(400, { "content-type": "text/plain" });
      while (
        !(await Promise.race([
          exchange.write("y".repeat(65_536)).then(() => false),
          exchange.gone.then(() => true),
        ]))
      );
    });
    expect((await failureOf(listen(keyed()))).message.length).toBeLessThan(1000);
    await gone;
  });
});

describe("a connection", () => {
  test("that is refused is reported at once, and asks whether the server is running", async () => {
    const closed = createServer();
    const port = await new Promise<number>((done) =>
      closed.listen(0, "127.0.0.1", () => done((closed.address() as { port: number }).port)),
    );
    await new Promise((done) => closed.close(done));
    const { request, notices } = retriedAsk();
    const failure = await failureOf(listen(openai(`http://localhost:${port}/v1`), request));
    expect(failure).toMatchObject({
      kind: "network",
      message: expect.stringMatching(/ECONNREFUSED.*is vendor running\?$/),
    });
    expect(notices).toEqual([]);
  });

  test("that breaks before the first event is retried, and nothing is emitted twice", async () => {
    server.script(
      ({ cut }) => cut(),
      ({ head, cut }) => {
        head();
        cut();
      },
      chatReply("third time"),
    );
    const { request, notices } = retriedAsk();
    const { text } = await listen(openai(server.url), request);
    expect(text).toBe("third time");
    expect(notices).toMatchObject([
      { attempt: 1, maxAttempts: 5 },
      { attempt: 2, maxAttempts: 5 },
    ]);
    expect(server.requests).toHaveLength(3);
  });

  test("that breaks in the middle ends the stream with the text so far, and is not retried", async () => {
    let goOn = () => {};
    const heard = new Promise<void>((resolveHeard) => {
      goOn = resolveHeard;
    });
    server.script(async ({ head, write, cut }) => {
      head();
      await write(sse(chunk({ content: "half" })));
      await heard;
      cut();
    });
    const { request, notices } = retriedAsk();
    const events = [];
    for await (const event of openai(server.url).stream?.(request) ?? []) {
      events.push(event);
      goOn();
    }
    const response = { stopReason: "error", message: { content: "half" }, error: { kind: "network" } };
    expect(events).toMatchObject([{ type: "text_delta" }, { type: "done", response }]);
    expect(notices).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test("that is redirected is not followed: the key would go along", async () => {
    const other = await startModelServer(chatReply("stolen"));
    server.script(status(307, "", { location: `${other.url}/v1/chat/completions` }));
    const failure = await failureOf(listen(keyed()));
    expect(failure).toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(/redirect to http:\/\/127.*not followed/),
    });
    expect(other.requests).toEqual([]);
    await other.close();
  });
});

describe("limits", () => {
  test("a server that says nothing is given up after the time limit: before the head, and in the middle", async () => {
    server.script(() => undefined);
    const provider = openai(server.url, { idleTimeoutMs: 30 });
    expect(await failureOf(listen(provider))).toMatchObject({
      kind: "network",
      message: expect.stringMatching(/sent nothing for/),
    });
    server.script(async ({ head, write }) => {
      head();
      await write(sse(chunk({ content: "and then" })));
    });
    const { response } = await listen(openai(server.url, { idleTimeoutMs: 200 }));
    expect(response).toMatchObject({
      stopReason: "error",
      message: { content: "and then" },
      error: { message: expect.stringMatching(/sent nothing/) },
    });
  });

  test("an event without end is given up after some megabytes", async () => {
    let sent = 0;
    const big = "x".repeat(1024 * 1024);
    const endless: typeof fetch = () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 1;
              controller.enqueue(Buffer.from(sent === 1 ? `data: ${big}` : big));
            },
          }),
        ),
      );
    expect((await failureOf(listen(openai(server.url, { fetch: endless })))).message).toMatch(
      /an event of more than 4194304/,
    );
    expect(sent).toBeLessThan(8);
  });

  test("an answer without end is given up, in a stream with what was said", async () => {
    let sent = 0;
    const piece = Buffer.from(sse(chunk({ content: "y".repeat(1024 * 1024) })));
    const endless: typeof fetch = () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 1;
              controller.enqueue(piece);
            },
          }),
        ),
      );
    const { response } = await listen(openai(server.url, { fetch: endless }));
    expect(response).toMatchObject({
      stopReason: "error",
      error: { kind: "protocol", message: expect.stringMatching(/more than 33554432 bytes/) },
    });
    expect(sent).toBeLessThan(36);
  });
});

describe("an abort", () => {
  test("before, while waiting for the head, and between retries rejects as aborted", async () => {
    const early = AbortSignal.abort();
    expect((await failureOf(listen(openai(server.url), askOf({ signal: early })))).kind).toBe("aborted");
    expect(server.requests).toEqual([]);

    server.script(() => undefined);
    const waiting = new AbortController();
    const silent = failureOf(listen(openai(server.url), askOf({ signal: waiting.signal })));
    await server.request(0);
    waiting.abort();
    expect((await silent).kind).toBe("aborted");

    server.script(status(500, ""));
    const retrying = new AbortController();
    const request = askOf({ signal: retrying.signal, onRetry: () => retrying.abort() });
    expect((await failureOf(listen(openai(server.url, { retry: {} }), request))).kind).toBe("aborted");
    expect(server.requests).toHaveLength(2);
  });

  test("in the middle ends the stream with what was said, and the server sees the connection go", async () => {
    let gone: Promise<void> | undefined;
    server.script(async (exchange) => {
      ({ gone } = exchange);
      exchange.head();
      await exchange.write(sse(chunk({ content: "so far" })));
    });
    expect((await abortAtFirstWords(openai(server.url))).at(-1)).toMatchObject({
      type: "done",
      response: { stopReason: "error", message: { content: "so far" }, error: { kind: "aborted" } },
    });
    await gone;
  });

  test("a reader that goes away closes the connection", async () => {
    let gone: Promise<void> | undefined;
    server.script(async (exchange) => {
      ({ gone } = exchange);
      exchange.head();
      await exchange.write(sse(chunk({ content: "first" })));
    });
    for await (const event of openai(server.url).stream?.(askOf()) ?? [])
      if (event.type === "text_delta") break;
    await gone;
  });
});

test("retries are reported with their reason, and stop at the configured number", async () => {
  server.script(
    status(429, { error: { message: "slow" } }, { "retry-after": "2" }),
    status(503, ""),
    status(500, ""),
    bytes(""),
  );
  const waits: number[] = [];
  const sleep = (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  };
  const provider = resolve(
    { type: "openai-compatible", baseURL: server.url, maxRetries: 2 },
    { retry: { sleep, random: () => 0 } },
  );
  const { request, notices } = retriedAsk();
  expect((await failureOf(listen(provider, request))).status).toBe(500);
  expect(waits).toEqual([2000, 2000]);
  expect(notices).toMatchObject([
    { attempt: 1, maxAttempts: 2, delayMs: 2000, status: 429, reason: expect.stringMatching(/slow/) },
    { attempt: 2, status: 503 },
  ]);
});

test("an error of the vendor as the first event is a reason to retry, as the same status would be", async () => {
  server.script(bytes(sse({ error: { message: "busy", type: "overloaded_error" } })), chatReply("now"));
  expect((await listen(openai(server.url))).text).toBe("now");
  const provider = openai(server.url, { fetch: fetchOf([sse({ error: { message: "no", code: 400 } })]) });
  const { request, notices } = retriedAsk();
  expect((await failureOf(listen(provider, request))).kind).toBe("bad_request");
  expect(notices).toEqual([]);
});
