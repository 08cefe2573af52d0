import { expect, test } from "vitest";
import type { Message } from "../../../../src/runtime/messages.ts";
import { buildRequest, type Thoughts } from "../../../../src/runtime/providers/anthropic/convert.ts";
import { EchoMemory } from "../../../../src/runtime/providers/echo-memory.ts";
import { ProviderError } from "../../../../src/runtime/providers/types.ts";
import { askOf, TOOL } from "../ask.ts";

const build = (messages: Message[], tools = [] as (typeof TOOL)[]) =>
  buildRequest(askOf({ messages, tools }), new EchoMemory<Thoughts>(), false);
const CACHE = { cache_control: { type: "ephemeral" } };

test("system messages go to the top, joined, whereever they are", () => {
  const params = build([
    { role: "system", content: "one" },
    { role: "user", content: "u" },
    { role: "system", content: "two" },
  ]);
  expect(params.system).toEqual([{ type: "text", text: "one\n\ntwo", ...CACHE }]);
  expect(params.messages).toHaveLength(1);
});

test("results of tools that follow each other are one user message, together with what the user said then", () => {
  const params = build([
    { role: "user", content: "u" },
    {
      role: "assistant",
      content: "I look",
      toolCalls: [
        { id: "a", name: "t", input: { x: 1 } },
        { id: "b:1", name: "functions.t", input: "broken" },
      ],
    },
    { role: "tool", toolCallId: "a", name: "t", content: "fine" },
    { role: "tool", toolCallId: "b:1", name: "t", content: "not JSON", isError: true },
    { role: "user", content: "go on" },
    { role: "user", content: "please" },
  ]);
  expect(params.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "u" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look" },
        { type: "tool_use", id: "a", name: "t", input: { x: 1 } },
        { type: "tool_use", id: "b_1", name: "functions_t", input: { unparsed_arguments: "broken" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "fine" },
        { type: "tool_result", tool_use_id: "b_1", content: "not JSON", is_error: true },
        { type: "text", text: "go on" },
        { type: "text", text: "please", ...CACHE },
      ],
    },
  ]);
});

test("what is empty is left out, because the API refuses it", () => {
  const params = build([
    { role: "user", content: "u" },
    { role: "assistant", content: " \n", toolCalls: [{ id: "a", name: "t", input: {} }] },
    { role: "tool", toolCallId: "a", name: "t", content: "" },
    { role: "assistant", content: null },
    { role: "user", content: "" },
  ]);
  expect(params.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "u" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "t", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", ...CACHE }] },
  ]);
  expect(params).not.toHaveProperty("system");
  expect(params).not.toHaveProperty("tools");
});

test("a conversation without its beginning begins with a user", () => {
  expect(
    build([
      { role: "assistant", content: "a" },
      { role: "user", content: "u" },
    ]).messages.map(({ role }) => role),
  ).toEqual(["user", "assistant", "user"]);
});

test("images are blocks: data as base64, addresses as they are", () => {
  const image = (url: string): Message => ({
    role: "user",
    content: [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url } },
    ],
  });
  expect(build([image("data:image/PNG;base64,AAAA")]).messages[0]?.content).toEqual([
    { type: "text", text: "see" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, ...CACHE },
  ]);
  expect(build([image("https://x.example/a.png")]).messages[0]?.content[1]).toMatchObject({
    source: { type: "url", url: "https://x.example/a.png" },
  });
  for (const url of ["data:image/svg+xml;base64,AA", "data:image/png,plain", "file:///etc/passwd"]) {
    expect(() => build([image(url)])).toThrow(ProviderError);
  }
});

test("without a system prompt the last tool carries the mark of the cache", () => {
  const params = build([{ role: "user", content: "u" }], [TOOL, { ...TOOL, name: "second" }]);
  expect(params.tools?.map((tool) => "cache_control" in tool)).toEqual([false, true]);
});
