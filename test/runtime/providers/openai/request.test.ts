import { describe, expect, test } from "vitest";
import type { ProviderConfig } from "../../../../src/runtime/config/schema.ts";
import type { Message } from "../../../../src/runtime/messages.ts";
import type { ChatRequest } from "../../../../src/runtime/providers/types.ts";
import { chatReply, chunk, events, type ModelServer, status } from "../../../support/model-server.ts";
import { askOf, eachWithServer, failureOf, listen, openai, resolve, TOOL } from "../ask.ts";

let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

const HISTORY: Message[] = [
  { role: "system", content: "be brief" },
  {
    role: "user",
    content: [
      { type: "text", text: "what is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
    ],
  },
  { role: "assistant", content: null, toolCalls: [{ id: "c1", name: "read_file", input: { path: "a" } }] },
  { role: "tool", toolCallId: "c1", name: "read_file", content: "text" },
  { role: "assistant", content: "It is a file." },
  { role: "assistant", content: "" },
  { role: "user", content: "thanks" },
];

type OpenAIConfig = Extract<ProviderConfig, { type: "openai-compatible" }>;

/** The body that a stream with this configuration sends. */
async function bodyWith(
  config: Partial<OpenAIConfig>,
  request: Partial<ChatRequest> = {},
): Promise<Record<string, unknown>> {
  server.script(chatReply("ok"));
  const provider = resolve({ type: "openai-compatible", baseURL: server.url, ...config });
  await listen(provider, askOf(request));
  return server.requests.at(-1)?.body as Record<string, unknown>;
}

describe("the request", () => {
  test("a summary and the message after it are one user message, and others stay as they are", async () => {
    const summary = "[Summary of the earlier conversation]\n3 messages. Left out.";
    const user = (content: string): Message => ({ role: "user", content });
    const messages: Message[] = [
      { role: "system", content: "s" },
      user(summary),
      user("go on"),
      user("please"),
    ];
    expect((await bodyWith({}, { messages }))["messages"]).toEqual([
      messages[0],
      user(`${summary}\n\ngo on`),
      user("please"),
    ]);
  });

  test("a stream is asked for with exactly the shared subset", async () => {
    server.script(chatReply("ok"));
    await listen(
      openai(`${server.url}/v1`),
      askOf({ messages: HISTORY, tools: [TOOL], maxTokens: 100, temperature: 0.5 }),
    );
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(request?.headers).toMatchObject({
      authorization: "Bearer placeholder",
      "content-type": "application/json",
    });
    expect(request?.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "be brief" },
        HISTORY[1],
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "text" },
        { role: "assistant", content: "It is a file." },
        { role: "user", content: "thanks" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "read_file",
            description: "Reads a file.",
            parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
          },
        },
      ],
      tool_choice: "auto",
      temperature: 0.5,
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("without a stream, and with nothing set, it has the model and the messages only", async () => {
    server.script(status(200, { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }));
    const response = await openai(server.url).chat(askOf());
    expect(server.requests[0]?.body).toEqual({ model: "m", messages: [{ role: "user", content: "hello" }] });
    expect(response).toMatchObject({ message: { role: "assistant", content: "hi" }, stopReason: "end_turn" });
  });

  test.each([
    ["omitTemperature", (body: Record<string, unknown>) => expect(body).not.toHaveProperty("temperature")],
    ["omitMaxTokens", (body: Record<string, unknown>) => expect(body).not.toHaveProperty("max_tokens")],
    [
      "maxCompletionTokens",
      (body: Record<string, unknown>) => {
        expect(body).toMatchObject({ max_completion_tokens: 7 });
        expect(body).not.toHaveProperty("max_tokens");
      },
    ],
    ["omitToolChoice", (body: Record<string, unknown>) => expect(body).not.toHaveProperty("tool_choice")],
    [
      "omitStreamOptions",
      (body: Record<string, unknown>) => expect(body).not.toHaveProperty("stream_options"),
    ],
    [
      "developerRole",
      (body: Record<string, unknown>) => expect(body["messages"]).toMatchObject([{ role: "developer" }, {}]),
    ],
    [
      "omitTools",
      (body: Record<string, unknown>) => {
        expect(body).not.toHaveProperty("tools");
        expect(body).not.toHaveProperty("tool_choice");
      },
    ],
  ] as const)("the quirk %s changes it, and nothing else", async (quirk, check) => {
    const messages: Message[] = [
      { role: "system", content: "s" },
      { role: "user", content: "u" },
    ];
    const request = { messages, tools: [TOOL], maxTokens: 7, temperature: 1 };
    const body = await bodyWith({ quirks: { [quirk]: true } }, request);
    check(body);
    const usual = await bodyWith({}, request);
    const changed = Object.keys({ ...usual, ...body }).filter(
      (key) => JSON.stringify(usual[key]) !== JSON.stringify(body[key]),
    );
    expect(changed.length).toBeLessThanOrEqual(2);
    expect(changed.length).toBeGreaterThan(0);
  });

  test("with noImages a new image is refused, and an old one does not block the conversation", async () => {
    const image = HISTORY[1] as Message;
    const provider = resolve({ type: "openai-compatible", baseURL: server.url, quirks: { noImages: true } });
    const failure = await failureOf(listen(provider, askOf({ messages: [image] })));
    expect(failure).toMatchObject({
      kind: "bad_request",
      message: expect.stringMatching(/does not accept images.*noImages/),
    });
    expect(server.requests).toEqual([]);
    const body = await bodyWith(
      { quirks: { noImages: true } },
      { messages: [image, { role: "user", content: "and?" }] },
    );
    expect(body["messages"]).toEqual([
      { role: "user", content: "what is this?\n[image omitted]" },
      { role: "user", content: "and?" },
    ]);
  });

  test("arguments that were no JSON go back as an object, because servers refuse anything else", async () => {
    const messages: Message[] = [
      { role: "user", content: "u" },
      { role: "assistant", toolCalls: [{ id: "c", name: "t", input: '{"a":' }] },
      { role: "tool", toolCallId: "c", name: "t", content: "not JSON", isError: true },
    ];
    const body = await bodyWith({}, { messages });
    expect(body["messages"]).toMatchObject([
      {},
      { tool_calls: [{ function: { arguments: '{"unparsed_arguments":"{\\"a\\":"}' } }] },
      { content: "not JSON" },
    ]);
  });

  test("a name that a model made up goes back as one that servers take", async () => {
    const calls = ["functions.bash", "", "n".repeat(70)].map((name, at) => ({
      id: `c${at}`,
      name,
      input: {},
    }));
    const body = await bodyWith({}, { messages: [{ role: "assistant", toolCalls: calls }] });
    const names = ["functions_bash", "unknown", "n".repeat(64)];
    expect(body["messages"]).toMatchObject([{ tool_calls: names.map((name) => ({ function: { name } })) }]);
  });

  test("a lone surrogate is replaced, because servers reject it; what only looks like one stays", async () => {
    const content = "a\ud83d\ud83d b\ude00 \ud83d\ude00 \\ud83d \\\\ude00 \\\ud83d";
    const body = await bodyWith({}, { messages: [{ role: "user", content }] });
    const whole = "a\ufffd\ufffd b\ufffd \ud83d\ude00 \\ud83d \\\\ude00 \\\ufffd";
    expect(body["messages"]).toEqual([{ role: "user", content: whole }]);
  });

  test("what a vendor wants back with its calls goes back with them, and with nothing else", async () => {
    const extra = { google: { thought_signature: "sig" } };
    const call = {
      index: 0,
      id: "c1",
      function: { name: "read_file", arguments: "{}" },
      extra_content: extra,
    };
    const second = { index: 1, id: "c2", function: { name: "read_file", arguments: "{}" } };
    server.script(
      events(
        chunk({ reasoning_content: "hm, " }),
        chunk({ reasoning_content: "yes" }),
        chunk({ tool_calls: [call, second] }, "tool_calls"),
        "[DONE]",
      ),
      chatReply("done"),
    );
    const provider = openai(server.url);
    const { response } = await listen(provider);
    const copy = structuredClone(response.message);
    const earlier: Message = { role: "assistant", content: "earlier" };
    await listen(provider, askOf({ messages: [{ role: "user", content: "hello" }, earlier, copy] }));
    const sent = server.requests[1]?.body as { messages: Record<string, unknown>[] };
    expect(sent.messages[1]).toEqual({ role: "assistant", content: "earlier" });
    expect(sent.messages[2]).toMatchObject({
      reasoning_content: "hm, yes",
      tool_calls: [{ id: "c1", extra_content: extra }, { id: "c2" }],
    });
    expect(JSON.stringify(sent.messages[2]?.["tool_calls"]).match(/extra_content/g)).toHaveLength(1);
  });
});

test("what a vendor wants back stays with its call, although the vendor restarts its ids in each answer", async () => {
  const call = { index: 0, id: "call_0", function: { name: "read_file", arguments: "{}" } };
  const thinking = (text: string) =>
    events(chunk({ reasoning_content: text }), chunk({ tool_calls: [call] }, "tool_calls"), "[DONE]");
  server.script(thinking("first"), thinking("second"), chatReply("done"));
  const provider = openai(server.url);
  const messages: Message[] = [{ role: "user", content: "hello" }];
  for (let turn = 0; turn < 2; turn += 1) {
    const { response } = await listen(provider, askOf({ messages }));
    messages.push(structuredClone(response.message));
  }
  await listen(provider, askOf({ messages }));
  const sent = server.requests[2]?.body as { messages: Record<string, unknown>[] };
  expect(sent.messages.map((message) => message["reasoning_content"])).toEqual([
    undefined,
    "first",
    "second",
  ]);
});

describe("address and key", () => {
  test.each([
    ["/v1", "/v1/chat/completions"],
    ["/v1/", "/v1/chat/completions"],
    ["", "/chat/completions"],
    ["/v1beta/openai//", "/v1beta/openai/chat/completions"],
    ["/x/chat/completions", "/x/chat/completions"],
    ["/openai/v1?api-version=preview", "/openai/v1/chat/completions?api-version=preview"],
  ])("the base URL %s is called at %s", async (base, path) => {
    await bodyWith({ baseURL: server.url + base });
    expect(server.requests[0]?.path).toBe(path);
  });

  test.each([
    [{ type: "bearer" }, { authorization: "Bearer k-12345678" }],
    [{ type: "api-key" }, { "api-key": "k-12345678" }],
    [{ type: "header", header: "X-My-Key" }, { "x-my-key": "k-12345678" }],
  ] as const)("auth %j sends the key as %j and in no other header", async (auth, headers) => {
    await bodyWith({ auth, apiKey: "k-12345678" });
    const sent = server.requests[0]?.headers ?? {};
    expect(sent).toMatchObject(headers);
    const carriers = Object.entries(sent).filter(([, value]) => String(value).includes("k-12345678"));
    expect(carriers).toHaveLength(1);
  });

  test("auth none sends no key, and own headers are added", async () => {
    await bodyWith({ auth: { type: "none" }, apiKey: "k-12345678", headers: { "X-Title": "demian" } });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain("k-12345678");
    expect(server.requests[0]?.headers).toMatchObject({ "x-title": "demian" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });
});
