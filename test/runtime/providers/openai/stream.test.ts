import { describe, expect, test } from "vitest";
import {
  bytes,
  chatReply,
  chunk,
  events,
  type ModelServer,
  sse,
  status,
} from "../../../support/model-server.ts";
import { askOf, eachWithServer, failureOf, fetchOf, listen, openai } from "../ask.ts";
import { call, hear } from "./hear.ts";

let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

describe("text", () => {
  test("text is streamed as it arrives, and the response has all of it with usage", async () => {
    server.script(chatReply("one two three"));
    const { events: told, text, response } = await listen(openai(server.url));
    expect(told.filter(({ type }) => type === "text_delta")).toHaveLength(3);
    expect(text).toBe("one two three");
    expect(response).toMatchObject({
      message: { role: "assistant", content: "one two three" },
      toolCalls: [],
      stopReason: "end_turn",
      usage: { inputTokens: 10, outputTokens: 5 },
      model: "the-model",
    });
    expect(response.message).not.toHaveProperty("toolCalls");
  });

  test("a word is emitted before the next one is sent", async () => {
    let goOn = () => {};
    const told = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    server.script(async ({ head, write, end }) => {
      head();
      await write(sse(chunk({ content: "first" })));
      await told;
      await write(sse(chunk({ content: " second" }, "stop")));
      end();
    });
    const heard: string[] = [];
    for await (const event of openai(server.url).stream?.(askOf()) ?? []) {
      if (event.type !== "text_delta") continue;
      heard.push(event.text);
      goOn();
    }
    expect(heard).toEqual(["first", " second"]);
  });

  test("CRLF, comments, empty events and characters that are cut in two make no difference", async () => {
    const raw = Buffer.from(
      `: hello\r\n\r\ndata:${JSON.stringify(chunk({ content: "grün 🙂" }))}\r\n\r\ndata:\r\n\r\n`,
    );
    const cut = raw.indexOf(0xf0) + 2;
    const pieces = [raw.subarray(0, cut), raw.subarray(cut), sse(chunk({}, "stop")), ": bye\n\n"];
    const { text, response } = await listen(openai(server.url, { fetch: fetchOf(pieces) }));
    expect(text).toBe("grün 🙂");
    expect(response.stopReason).toBe("end_turn");
  });

  test.each([
    ["reasoning_content", { reasoning_content: "hm" }],
    ["reasoning", { reasoning: "hm" }],
    ["parts of the content", { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }],
  ])("reasoning in %s is separate from the text", async (_, delta) => {
    const { reasoning, text } = await hear(server, chunk(delta), chunk({ content: "yes" }, "stop"), "[DONE]");
    expect({ reasoning, text }).toEqual({ reasoning: "hm", text: "yes" });
  });

  test("content in parts is text, and the last event needs no blank line after it", async () => {
    const parts = {
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    };
    server.script(bytes(sse(chunk(parts)), `data: ${JSON.stringify(chunk({}, "stop"))}`));
    expect((await listen(openai(server.url))).response).toMatchObject({
      stopReason: "end_turn",
      message: { content: "ab" },
    });
  });
});

describe("the end", () => {
  test.each([
    ["without [DONE]", [chunk({ content: "a" }, "stop")]],
    ["without a finish_reason", [chunk({ content: "a" }), "[DONE]"]],
    [
      "with usage last and no choices",
      [chunk({ content: "a" }, "stop"), { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }],
    ],
    [
      "with chunks that say nothing",
      [{ choices: [] }, {}, chunk({ content: "a" }), { id: "x", choices: [{}] }, chunk({}, "stop")],
    ],
    ["with an error that is null", [{ ...chunk({ content: "a" }, "stop"), error: null }]],
  ])("a stream %s is complete", async (_, data) => {
    const { response } = await hear(server, ...data);
    expect(response).toMatchObject({ stopReason: "end_turn", message: { content: "a" } });
  });

  test("a stream that ends before the model said so is an error that keeps the text so far", async () => {
    const { text, response } = await hear(server, chunk({ content: "half an ans" }));
    expect(text).toBe("half an ans");
    expect(response).toMatchObject({
      stopReason: "error",
      message: { content: "half an ans" },
      error: { kind: "network", message: expect.stringMatching(/vendor ended the stream before/) },
    });
  });

  test.each([
    ["stop", "end_turn"],
    ["STOP", "end_turn"],
    ["eos", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "content_filter"],
    ["content_filter: SAFETY", "content_filter"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["error", "error"],
    ["insufficient_system_resource", "error"],
  ])("the reason %s is %s", async (said, stopReason) => {
    const { response } = await hear(server, chunk({ content: "a" }, said), "[DONE]");
    expect(response.stopReason).toBe(stopReason);
    expect(response.error === undefined).toBe(stopReason === "end_turn" || stopReason === "max_tokens");
  });

  test("a stop for tools without any is an error, but an answer where there is text", async () => {
    server.script(events(chunk({}, "tool_calls"), "[DONE]"));
    expect(await failureOf(listen(openai(server.url)))).toMatchObject({
      message: expect.stringMatching(/sent none/),
    });
    expect((await hear(server, chunk({ content: "a" }, "tool_calls"))).response.stopReason).toBe("end_turn");
  });

  test("a connection that breaks after the finish reason loses nothing", async () => {
    server.script(async ({ head, write, cut }) => {
      head();
      await write(sse(chunk({ content: "all" }, "stop")));
      cut();
    });
    expect((await listen(openai(server.url))).response).toMatchObject({
      stopReason: "end_turn",
      message: { content: "all" },
    });
  });

  test("a server that keeps the connection open after [DONE] does not hold it up", async () => {
    let gone: Promise<void> | undefined;
    server.script(async (exchange) => {
      ({ gone } = exchange);
      exchange.head();
      await exchange.write(sse(chunk({ content: "a" }, "stop")) + sse("[DONE]"));
    });
    expect((await listen(openai(server.url))).response.stopReason).toBe("end_turn");
    await gone;
  });
});

describe("filters", () => {
  test.each([
    [
      "Gemini's block of the prompt",
      [{ choices: [], prompt_feedback: { block_reason: "SAFETY" } }],
      /SAFETY/,
    ],
    ["Azure's error in the stream", [{ error: { code: "content_filter", message: "filtered" } }], /filtered/],
    [
      "Azure's categories",
      [
        {
          choices: [
            {
              index: 0,
              delta: {},
              finish_reason: "content_filter",
              content_filter_results: { violence: { filtered: true } },
            },
          ],
        },
      ],
      /violence/,
    ],
    ["a refusal", [chunk({ refusal: "I will not." }, "stop")], /I will not/],
  ])("%s is a content filter, with what was said", async (_, data, said) => {
    const { response } = await hear(server, ...data, "[DONE]");
    expect(response).toMatchObject({
      stopReason: "content_filter",
      error: { kind: "content_filter", message: expect.stringMatching(said) },
    });
  });

  test("calls that a filter cut off are not made", async () => {
    const { response } = await hear(
      server,
      call({ index: 0, id: "c", function: { name: "t", arguments: "{}" } }),
      chunk({}, "content_filter"),
    );
    expect(response).toMatchObject({ stopReason: "content_filter", toolCalls: [] });
    expect(response.message).not.toHaveProperty("toolCalls");
  });

  test.each([
    ["by its code", { code: "content_filter" }],
    ["by the policy", { innererror: { code: "ResponsibleAIPolicyViolation" } }],
    [
      "by the categories",
      { innererror: { content_filter_result: { hate: { filtered: false }, violence: { filtered: true } } } },
    ],
  ])(
    "Azure's refusal of a prompt, sent %s, is an answer and not a failure, with and without a stream",
    async (_, told) => {
      const refusal = status(400, { error: { message: "The prompt was filtered", ...told } });
      server.script(refusal, refusal);
      const provider = openai(server.url);
      for (const response of [(await listen(provider)).response, await provider.chat(askOf())]) {
        expect(response).toMatchObject({ stopReason: "content_filter", error: { status: 400 } });
        expect(response.error?.message).toMatch(
          "innererror" in told && "content_filter_result" in told.innererror
            ? /\(violence\)/
            : /was filtered;/,
        );
      }
    },
  );
});

describe("other answers to a stream request", () => {
  const whole = {
    model: "x",
    choices: [
      {
        message: { content: "hi", tool_calls: [{ id: "c", function: { name: "t", arguments: { a: 1 } } }] },
        finish_reason: "tool_calls",
      },
    ],
    usage: {
      prompt_tokens: 3,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  };

  test.each(["application/json", "text/plain", "text/event-stream"])(
    "a whole answer as %s is emitted as events",
    async (type) => {
      server.script(status(200, whole, { "content-type": type }));
      const { text, events: told, response } = await listen(openai(server.url));
      expect(text).toBe("hi");
      expect(told.map((event) => event.type)).toEqual(["text_delta", "tool_call_delta", "done"]);
      expect(response).toMatchObject({
        toolCalls: [{ id: "c", input: { a: 1 } }],
        usage: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 2, reasoningTokens: 1 },
      });
    },
  );

  test("events as text/plain are events, also where no stream was asked for", async () => {
    const stream = sse(chunk({ content: "hi" }, "stop")) + sse("[DONE]");
    server.script(status(200, stream, { "content-type": "text/plain" }), bytes(stream));
    expect((await listen(openai(server.url))).text).toBe("hi");
    expect((await openai(server.url).chat(askOf())).message.content).toBe("hi");
  });

  test.each([
    ["a web page", "<!DOCTYPE html><title>Login</title>", /web page \("Login"\).*baseURL/],
    ["some text", "this is not what you want", /something other than events: "this is not/],
    ["broken JSON", '{"choices": [', /invalid JSON/],
    ["an event that is not JSON", "data: {oops\n\n", /invalid JSON: "\{oops"/],
    ["nothing", "", /sent no answer/],
    ["comments only", ": ping\n\n: ping\n\n", /sent no answer/],
    [
      "an error with status 200",
      JSON.stringify({ error: { message: "model crashed", type: "invalid_request_error" } }),
      /model crashed/,
    ],
    [
      "vLLM's error with status 200",
      JSON.stringify({ object: "error", message: "no such model", code: 404 }),
      /no such model/,
    ],
  ])("%s is a clear failure", async (_, body, said) => {
    const provider = openai(server.url, { fetch: fetchOf([body]) });
    expect((await failureOf(listen(provider))).message).toMatch(said);
    expect((await failureOf(provider.chat(askOf()))).message).toMatch(said);
  });

  test("an error in the middle of a stream ends it with the text so far", async () => {
    const { text, response } = await hear(
      server,
      chunk({ content: "so " }),
      { error: { message: "worker died", code: 502 } },
      chunk({ content: "late" }),
    );
    expect(text).toBe("so ");
    expect(response).toMatchObject({
      stopReason: "error",
      message: { content: "so " },
      error: { kind: "server", status: 502, message: expect.stringMatching(/worker died/) },
    });
  });

  test("Groq's figures are found where it puts them", async () => {
    const { response } = await hear(server, chunk({ content: "a" }), {
      ...chunk({}, "stop"),
      x_groq: { usage: { prompt_tokens: 8, completion_tokens: 9 } },
    });
    expect(response.usage).toEqual({ inputTokens: 8, outputTokens: 9 });
  });
});
