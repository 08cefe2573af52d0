import { describe, expect, test } from "vitest";
import {
  anthropicEnvelope,
  anthropicEvents,
  anthropicReply,
  type ModelServer,
  sse,
  status,
} from "../../../support/model-server.ts";
import { askOf, eachWithServer, listen, TOOL } from "../ask.ts";
import { anthropic, block, hear, KEY, start } from "./hear.ts";

let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

const delta = (index: number, change: object) => ({ type: "content_block_delta", index, delta: change });
const stop = (reason: string, more: object = {}) => ({
  type: "message_delta",
  delta: { stop_reason: reason, ...more },
  usage: { output_tokens: 5 },
});

describe("answers", () => {
  test("the request has the key, the version, and a limit", async () => {
    server.script(anthropicReply("hi"));
    await listen(
      anthropic(server.url),
      askOf({
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "hello" },
        ],
        tools: [TOOL],
        maxTokens: 50,
        temperature: 0.5,
      }),
    );
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/messages" });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "anthropic-version": expect.stringMatching(/^20/),
    });
    expect(request?.body).toEqual({
      model: "m",
      max_tokens: 50,
      system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hello", cache_control: { type: "ephemeral" } }] },
      ],
      tools: [
        {
          name: "read_file",
          description: "Reads a file.",
          input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
          cache_control: { type: "ephemeral" },
        },
      ],
      stream: true,
    });
  });

  test.each(["", "/", "/v1", "/v1/"])("a base URL that ends in %j is the same endpoint", async (end) => {
    server.script(anthropicReply("hi"));
    await listen(anthropic(server.url + end));
    expect(server.requests[0]?.path).toBe("/v1/messages");
  });

  test("text, with all input counted, cached or not", async () => {
    server.script(anthropicReply("hello there"));
    const { text, response } = await listen(anthropic(server.url));
    expect(text).toBe("hello there");
    expect(response).toMatchObject({
      message: { role: "assistant", content: "hello there" },
      stopReason: "end_turn",
      model: "the-model",
      usage: { inputTokens: 130, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 20 },
    });
  });

  test("calls come in pieces, and a call without arguments has an empty input", async () => {
    const { events, response } = await hear(
      server,
      start,
      block(0, { type: "text", text: "Let me " }),
      delta(0, { type: "text_delta", text: "see" }),
      block(1, { type: "tool_use", id: "toolu_1", name: "read_file", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: '{"path"' }),
      delta(1, { type: "input_json_delta", partial_json: ':"a"}' }),
      block(2, { type: "tool_use", id: "toolu_2", name: "list", input: {} }),
      stop("tool_use"),
      { type: "message_stop" },
    );
    expect(response).toMatchObject({
      stopReason: "tool_use",
      message: { content: "Let me see" },
      toolCalls: [
        { id: "toolu_1", name: "read_file", input: { path: "a" } },
        { id: "toolu_2", name: "list", input: {} },
      ],
    });
    expect(events.filter(({ type }) => type === "tool_call_delta")).toEqual([
      { type: "tool_call_delta", index: 0, id: "toolu_1", name: "read_file" },
      { type: "tool_call_delta", index: 0, arguments: '{"path"' },
      { type: "tool_call_delta", index: 0, arguments: ':"a"}' },
      { type: "tool_call_delta", index: 1, id: "toolu_2", name: "list" },
    ]);
  });

  test("thinking is streamed as reasoning, and sent back unchanged before the call that followed it", async () => {
    server.script(
      anthropicEvents(
        start,
        block(0, { type: "thinking", thinking: "", signature: "" }),
        delta(0, { type: "thinking_delta", thinking: "hm, " }),
        delta(0, { type: "thinking_delta", thinking: "yes" }),
        delta(0, { type: "signature_delta", signature: "sig" }),
        block(1, { type: "redacted_thinking", data: "opaque" }),
        block(2, { type: "tool_use", id: "toolu_1", name: "read_file", input: {} }),
        stop("tool_use"),
      ),
      anthropicReply("done"),
    );
    const provider = anthropic(server.url);
    const { reasoning, response } = await listen(provider);
    expect(reasoning).toBe("hm, yes");
    const result = { role: "tool", toolCallId: "toolu_1", name: "read_file", content: "text" } as const;
    await listen(
      provider,
      askOf({ messages: [{ role: "user", content: "u" }, structuredClone(response.message), result] }),
    );
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        {},
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm, yes", signature: "sig" },
            { type: "redacted_thinking", data: "opaque" },
            { type: "tool_use", id: "toolu_1" },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
      ],
    });
  });

  test.each([
    ["end_turn", "end_turn"],
    ["stop_sequence", "end_turn"],
    ["pause_turn", "end_turn"],
    ["max_tokens", "max_tokens"],
    ["model_context_window_exceeded", "max_tokens"],
    ["refusal", "content_filter"],
    ["something_new", "end_turn"],
  ])("the reason %s is %s", async (reason, expected) => {
    const { response } = await hear(
      server,
      start,
      block(0, { type: "text", text: "a" }),
      stop(reason, { stop_details: { type: "refusal", category: "cyber", explanation: null } }),
    );
    expect(response.stopReason).toBe(expected);
    if (expected === "content_filter")
      expect(response.error).toMatchObject({
        kind: "content_filter",
        message: expect.stringMatching(/cyber/),
      });
  });

  test("a call that the token limit cut off is kept as text that is not JSON, for the model to see", async () => {
    const { response } = await hear(
      server,
      start,
      block(0, { type: "tool_use", id: "t", name: "write", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"text":"abc' }),
      stop("max_tokens"),
    );
    expect(response).toMatchObject({ stopReason: "tool_use", toolCalls: [{ input: '{"text":"abc' }] });
  });

  test("without a stream the message is the same", async () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "hi" },
      { type: "tool_use", id: "t", name: "x", input: { a: 1 } },
    ];
    server.script(status(200, { ...anthropicEnvelope(), content, stop_reason: "tool_use" }));
    const response = await anthropic(server.url).chat(askOf({ maxTokens: 64_000 }));
    expect(server.requests[0]?.body).toMatchObject({ stream: false, max_tokens: 64_000 });
    expect(response).toMatchObject({
      message: { content: "hi" },
      toolCalls: [{ id: "t", name: "x", input: { a: 1 } }],
      stopReason: "tool_use",
      usage: { inputTokens: 130 },
    });
  });

  test("a compatible server may leave the type out of a whole answer and of an error", async () => {
    const { type: _, ...untyped } = anthropicEnvelope() as { type: string };
    const content = [{ type: "text", text: "hi" }];
    server.script(status(200, { ...untyped, content, stop_reason: "end_turn" }));
    const response = await anthropic(server.url).chat(askOf({ maxTokens: 64_000 }));
    expect(response).toMatchObject({ message: { content: "hi" }, stopReason: "end_turn" });
    const text = block(0, { type: "text", text: "so far" });
    const { response: failed } = await hear(server, start, text, {
      error: { type: "api_error", message: "too busy" },
    });
    expect(failed).toMatchObject({
      stopReason: "error",
      error: { message: expect.stringMatching(/too busy/) },
    });
  });

  test("the answer ends at message_stop, though the server keeps the connection open", async () => {
    server.script(async ({ head, write }) => {
      head();
      for (const event of [
        start,
        block(0, { type: "text", text: "a" }),
        stop("end_turn"),
        { type: "message_stop" },
      ])
        await write(sse(event));
    });
    expect((await listen(anthropic(server.url))).response).toMatchObject({ stopReason: "end_turn" });
  });

  test("events of any shape never throw after the first one", async () => {
    const odd = [
      null,
      5,
      "x",
      {},
      { type: "content_block_delta" },
      { type: "content_block_delta", index: 9, delta: { text: "lost" } },
      { type: "content_block_start", content_block: 5 },
      { type: "message_delta", delta: null, usage: 3 },
      { type: "message_start" },
    ];
    server.script(async ({ head, write, cut }) => {
      head();
      for (const event of [block(0, { type: "text", text: "a" }), ...odd])
        await write(`data: ${JSON.stringify(event)}\n\n`);
      cut();
    });
    expect((await listen(anthropic(server.url))).response).toMatchObject({
      stopReason: "error",
      message: { content: "a" },
      error: { kind: "network" },
    });
  });

  test("a base URL with a password is refused, and not shown", () => {
    const create = () => anthropic("https://me:hunter22@api.example");
    expect(create).toThrow(/providers.vendor.baseURL must not contain a user or password/);
    expect(create).not.toThrow(/hunter22/);
  });
});
