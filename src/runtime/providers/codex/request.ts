// The request to the Responses API: the conversation as items, all of it each time. The vendor keeps nothing, so what it
// thought goes back sealed (echo-memory.ts).
import type { AssistantMessage, Message, UserMessage } from "../../messages.ts";
import type { EchoMemory } from "../echo-memory.ts";
import type { CodexConfig } from "../registry-types.ts";
import { inputToObject, nameToIdentifier } from "../settle.ts";
import type { ChatRequest } from "../types.ts";

type Item = Record<string, unknown>;

/** What the model thought before a tool call: sealed items that go back with it. */
export interface Echo {
  reasoning: readonly Item[];
}

export interface RequestOptions {
  config: CodexConfig;
  echoes: EchoMemory<Echo>;
  /** Undefined: with a key and not a login, where the vendor wants no such thing. */
  installationId?: string | undefined;
}

/** The vendor refuses requests without any. */
const NO_INSTRUCTIONS = "You are a coding agent.";
const SEALED = "reasoning.encrypted_content";

export function buildRequest(request: ChatRequest, options: RequestOptions): Record<string, unknown> {
  const { config, installationId } = options;
  const { instructions, rest } = splitInstructions(request.messages);
  const { effort, summary } = config.responses.reasoning;
  const include = new Set([...config.responses.include, ...(effort === "none" ? [] : [SEALED])]);
  const cacheKey = config.promptCacheKey === "none" ? undefined : request.rootSessionId;
  const hasTools = request.tools.length > 0;
  return {
    model: request.model,
    instructions,
    input: rest.flatMap((message) => toItems(message, options.echoes)),
    ...(hasTools ? { tools: request.tools.map(toTool), tool_choice: "auto" } : {}),
    parallel_tool_calls: false,
    reasoning: { effort, ...(summary === "none" ? {} : { summary }) },
    store: false,
    stream: true,
    include: [...include],
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
    ...(installationId === undefined
      ? limits(request)
      : { client_metadata: { "x-codex-installation-id": installationId } }),
  };
}

/** With a login they are refused: the plan sets them. */
function limits({ maxTokens, temperature }: ChatRequest): Item {
  return {
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** What stands before the conversation; later notes to the model stay where they are. */
function splitInstructions(messages: readonly Message[]): { instructions: string; rest: readonly Message[] } {
  const begin = messages.findIndex(({ role }) => role !== "system");
  const head = begin === -1 ? messages : messages.slice(0, begin);
  const texts = head.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const instructions = texts.join("\n\n").trim() === "" ? NO_INSTRUCTIONS : texts.join("\n\n");
  return { instructions, rest: begin === -1 ? [] : messages.slice(begin) };
}

function toItems(message: Message, echoes: EchoMemory<Echo>): Item[] {
  if (message.role === "system") return [textItem("developer", "input_text", message.content)];
  if (message.role === "user") return [toUser(message)];
  if (message.role === "assistant") return toAssistant(message, echoes);
  return [{ type: "function_call_output", call_id: message.toolCallId, output: message.content }];
}

function toUser({ content }: UserMessage): Item {
  if (typeof content === "string") return textItem("user", "input_text", content);
  const parts = content.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.image_url.url, detail: part.image_url.detail ?? "auto" },
  );
  return { type: "message", role: "user", content: parts };
}

/** In the order in which it was said: thoughts, words, the call. */
function toAssistant({ content, toolCalls = [] }: AssistantMessage, echoes: EchoMemory<Echo>): Item[] {
  const words = content ? [textItem("assistant", "output_text", content)] : [];
  if (toolCalls.length === 0) return words;
  return toolCalls.flatMap(({ id, name, input }, index) => [
    ...(echoes.find(id)?.reasoning ?? []),
    ...(index === 0 ? words : []),
    {
      type: "function_call",
      call_id: id,
      name: nameToIdentifier(name),
      arguments: JSON.stringify(inputToObject(input)),
    },
  ]);
}

function textItem(role: string, type: string, text: string): Item {
  return { type: "message", role, content: [{ type, text }] };
}

/** What the vendor refuses in a schema, and with it every request. Inputs are checked by the tool's own all the same. */
const REFUSED_AT_TOP = new Set(["$schema", "oneOf", "anyOf", "allOf", "enum", "not"]);

function toTool({ name, description, inputSchema }: ChatRequest["tools"][number]): Item {
  const taken = Object.entries(inputSchema).filter(([keyword]) => !REFUSED_AT_TOP.has(keyword));
  // An object without any is refused too.
  const parameters = { properties: {}, ...Object.fromEntries(taken) };
  return { type: "function", name, description, strict: false, parameters };
}
