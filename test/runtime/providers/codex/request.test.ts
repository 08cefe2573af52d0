// The request on the wire.
import { describe, expect, test } from "vitest";
import { PRESETS } from "../../../../src/runtime/providers/presets.ts";
import {
  completed,
  created,
  functionCall,
  responsesEvents,
  responsesReply,
  thought,
} from "../../../support/responses.ts";
import { askOf, listen, TOOL } from "../ask.ts";
import { eachOnGround, type Ground, INSTALLATION, jwt, loginFile } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const ok = () => responsesReply("ok");

test("the preset is a Codex login with a concrete model", () => {
  expect(PRESETS["codex"]).toEqual({ type: "codex", model: "gpt-5.5" });
});

test("the headers name the account, the installation and us, and nothing else of the user", async () => {
  ground.server.script(ok());
  await listen(ground.provider());
  const [request] = ground.server.requests;
  expect(request?.path).toBe("/backend-api/codex/responses");
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${ground.read().tokens?.["access_token"]}`,
    "chatgpt-account-id": "account-1",
    "x-codex-installation-id": INSTALLATION,
    originator: "demian",
    "user-agent": "demian",
    accept: "text/event-stream",
  });
  expect(request?.headers).not.toHaveProperty("x-openai-fedramp");
});

test("an account of the government's cloud says so, by the claim of its token and not otherwise", async () => {
  ground.write(loginFile({ id_token: jwt(9999, { chatgpt_account_is_fedramp: true }) }));
  ground.server.script(ok(), ok());
  await listen(ground.provider());
  expect(ground.server.requests[0]?.headers["x-openai-fedramp"]).toBe("true");
  ground.write(loginFile({ id_token: jwt(9999, { chatgpt_account_is_fedramp: "yes" }) }));
  await listen(ground.provider());
  expect(ground.server.requests[1]?.headers).not.toHaveProperty("x-openai-fedramp");
});

test("an account that is not stored is read from the claims", async () => {
  ground.write(loginFile({ account_id: undefined }));
  ground.server.script(ok());
  await listen(ground.provider());
  expect(ground.server.requests[0]?.headers["chatgpt-account-id"]).toBe("account-of-claims");
});

test("a claim that no header could carry names no account", async () => {
  const odd = { chatgpt_account_id: "evil\r\nx-header: 1" };
  ground.write(loginFile({ account_id: undefined, id_token: jwt(9999, odd) }));
  ground.server.script(ok(), ok());
  await listen(ground.provider());
  expect(ground.server.requests[0]?.headers["chatgpt-account-id"]).toBe("account-of-claims");
  ground.write(loginFile({ account_id: "ü", id_token: jwt(9999, odd), access_token: jwt(9999, odd) }));
  await listen(ground.provider());
  expect(ground.server.requests[1]?.headers).not.toHaveProperty("chatgpt-account-id");
});

test("a conversation becomes items, in order, and nothing is left to the vendor to remember", async () => {
  ground.server.script(ok());
  await listen(
    ground.provider(),
    askOf({
      model: "gpt-x",
      rootSessionId: "root-1",
      maxTokens: 50,
      temperature: 1,
      tools: [TOOL],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
        {
          role: "assistant",
          content: "Looking.",
          toolCalls: [{ id: "call_a", name: "read_file", input: { path: "a" } }],
        },
        { role: "tool", toolCallId: "call_a", name: "read_file", content: "text of a" },
        { role: "system", content: "A later note." },
        {
          role: "user",
          content: [
            { type: "text", text: "and this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } },
          ],
        },
      ],
    }),
  );
  const { $schema: _, ...parameters } = TOOL.inputSchema;
  expect(ground.bodies()).toEqual([
    {
      model: "gpt-x",
      instructions: "Be brief.",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking." }] },
        { type: "function_call", call_id: "call_a", name: "read_file", arguments: '{"path":"a"}' },
        { type: "function_call_output", call_id: "call_a", output: "text of a" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "A later note." }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "and this?" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" },
          ],
        },
      ],
      tools: [
        { type: "function", name: "read_file", description: "Reads a file.", strict: false, parameters },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "root-1",
      client_metadata: { "x-codex-installation-id": INSTALLATION },
    },
  ]);
});

test("an answer in one piece is asked for as a stream as well: the vendor has no other", async () => {
  ground.server.script(responsesReply("one two"));
  const response = await ground.provider().chat(askOf());
  expect(response.message.content).toBe("one two");
  expect(ground.bodies()[0]).toMatchObject({ stream: true });
});

test("instructions are never empty, because the vendor refuses that", async () => {
  ground.server.script(ok());
  await listen(ground.provider(), askOf({ messages: [{ role: "user", content: "hi" }] }));
  expect(ground.bodies()[0]?.["instructions"]).toMatch(/\S/);
});

test("the configuration changes reasoning and what the cache goes by", async () => {
  ground.server.script(ok(), ok());
  const responses = { include: [], reasoning: { effort: "high", summary: "none" } };
  await listen(ground.provider({ promptCacheKey: "none", responses }), askOf({ rootSessionId: "root-1" }));
  expect(ground.bodies()[0]).toMatchObject({
    reasoning: { effort: "high" },
    include: ["reasoning.encrypted_content"],
  });
  expect(ground.bodies()[0]?.["reasoning"]).not.toHaveProperty("summary");
  expect(ground.bodies()[0]).not.toHaveProperty("prompt_cache_key");
  const none = { include: [], reasoning: { effort: "none" } };
  await listen(ground.provider({ responses: none }));
  expect(ground.bodies()[1]).toMatchObject({ include: [], reasoning: { effort: "none" } });
});

test("of a tool's schema only what the vendor takes is sent: one that it refuses would end every request", async () => {
  const tool = (inputSchema: Record<string, unknown>) => ({ name: "t", description: "d", inputSchema });
  const inner = { a: { anyOf: [{ type: "string" }, { enum: [1] }] } };
  const choice = { anyOf: [{ required: ["a"] }], oneOf: [], allOf: [], not: {}, enum: [] };
  ground.server.script(ok());
  const tools = [tool({ type: "object" }), tool({ type: "object", properties: inner, ...choice })];
  await listen(ground.provider(), askOf({ tools }));
  expect(ground.bodies()[0]?.["tools"]).toMatchObject([
    { parameters: { type: "object", properties: {} } },
    { parameters: { type: "object", properties: inner } },
  ]);
  const sent = ground.bodies()[0]?.["tools"] as { parameters: object }[];
  expect(sent.map(({ parameters }) => Object.keys(parameters).toSorted())).toEqual([
    ["properties", "type"],
    ["properties", "type"],
  ]);
});

test("a lone surrogate in the conversation does not reach the vendor, which would reject every later request", async () => {
  ground.server.script(ok());
  await listen(ground.provider(), askOf({ messages: [{ role: "user", content: "half \ud83d" }] }));
  expect(JSON.stringify(ground.bodies()[0])).toContain("half \ufffd");
});

describe("32: sealed thoughts", () => {
  const history = (toolCalls: { id: string; name: string; input: unknown }[]) => [
    { role: "user" as const, content: "hello" },
    { role: "assistant" as const, content: "Looking.", toolCalls },
    ...toolCalls.map(({ id, name }) => ({ role: "tool" as const, toolCallId: id, name, content: "done" })),
  ];
  const twoCalls = () =>
    responsesEvents(
      created,
      ...thought(0),
      ...functionCall(1, { name: "read_file", input: { path: "a" } }),
      ...thought(2),
      ...functionCall(3, { name: "read_file", input: { path: "b" } }),
      completed(),
    );

  test("go back before the calls that they led to, with the text in between", async () => {
    ground.server.script(twoCalls(), ok());
    const provider = ground.provider();
    const { response } = await listen(provider);
    await listen(provider, askOf({ messages: history(response.toolCalls) }));
    const input = ground.bodies()[1]?.["input"] as { type: string }[];
    expect(input.map(({ type }) => type)).toEqual([
      "message",
      "reasoning",
      "message",
      "function_call",
      "reasoning",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
    expect(input[1]).toEqual({
      type: "reasoning",
      id: "rs_0",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: "sealed-0",
    });
    expect(input[4]).toMatchObject({ encrypted_content: "sealed-2" });
  });

  test("that are not sealed stay away: the vendor would look for them and find nothing", async () => {
    const call = functionCall(1, { name: "read_file", input: {} });
    ground.server.script(responsesEvents(created, ...thought(0, "Hm.", ""), ...call, completed()), ok());
    const provider = ground.provider();
    const { response } = await listen(provider);
    await listen(provider, askOf({ messages: history(response.toolCalls) }));
    expect(JSON.stringify(ground.bodies()[1]?.["input"])).not.toContain("reasoning");
  });

  test("that the vendor cannot open are left out, and the question is asked again", async () => {
    const refusal = { error: { code: "invalid_encrypted_content", message: "could not be verified" } };
    ground.server.script(
      twoCalls(),
      ({ head, write, end }) => {
        head(400, { "content-type": "application/json" });
        void write(JSON.stringify(refusal));
        end();
      },
      ok(),
    );
    const provider = ground.provider();
    const { response } = await listen(provider);
    const { text } = await listen(provider, askOf({ messages: history(response.toolCalls) }));
    expect(text).toBe("ok");
    expect(JSON.stringify(ground.bodies()[1]?.["input"])).toContain("sealed-0");
    expect(JSON.stringify(ground.bodies()[2]?.["input"])).not.toContain("sealed");
  });
});
