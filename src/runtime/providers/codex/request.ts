// Builds a request to the Responses API: the whole conversation as items. The vendor stores nothing, so encrypted
// reasoning is sent back (echo-memory.ts).
import { defined } from "../../../base/values.ts";
import type { AssistantMessage, Message, UserMessage } from "../../messages.ts";
import type { EchoMemory } from "../echo-memory.ts";
import type { CodexConfig } from "../registry-types.ts";
import { inputToObject, nameToIdentifier } from "../settle.ts";
import type { ChatRequest } from "../types.ts";

type Item = Record<string, unknown>;

/** Encrypted reasoning to send back with a tool call. */
export interface CodexEcho {
  reasoning: readonly Item[];
}

export interface CodexRequestOptions {
  config: CodexConfig;
  echoes: EchoMemory<CodexEcho>;
  /** Absent with an API key. */
  installationId?: string | undefined;
}

/** The vendor rejects requests without instructions. */
const NO_INSTRUCTIONS = "You are a coding agent.";
const SEALED = "reasoning.encrypted_content";

export function buildRequest(request: ChatRequest, options: CodexRequestOptions): Record<string, unknown> {
  const { config, installationId } = options;
  const { instructions, rest } = splitInstructions(request.messages);
  const { summary } = config.responses.reasoning;
  const effort = request.effort ?? config.responses.reasoning.effort;
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
    ...defined({ prompt_cache_key: cacheKey }),
    ...(installationId === undefined
      ? limits(request)
      : { client_metadata: { "x-codex-installation-id": installationId } }),
  };
}

/** Rejected with a login, where the plan sets them. */
function limits({ maxTokens, temperature }: ChatRequest): Item {
  return defined({ max_output_tokens: maxTokens, temperature });
}

/** Leading system messages become instructions; later ones stay in the conversation. */
function splitInstructions(messages: readonly Message[]): { instructions: string; rest: readonly Message[] } {
  const begin = messages.findIndex(({ role }) => role !== "system");
  const head = begin === -1 ? messages : messages.slice(0, begin);
  const texts = head.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const instructions = texts.join("\n\n").trim() === "" ? NO_INSTRUCTIONS : texts.join("\n\n");
  return { instructions, rest: begin === -1 ? [] : messages.slice(begin) };
}

function toItems(message: Message, echoes: EchoMemory<CodexEcho>): Item[] {
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

/** In the original order: reasoning, text, call. */
function toAssistant({ content, toolCalls = [] }: AssistantMessage, echoes: EchoMemory<CodexEcho>): Item[] {
  const text = content ? [textItem("assistant", "output_text", content)] : [];
  if (toolCalls.length === 0) return text;
  return toolCalls.flatMap(({ id, name, input }, index) => [
    ...(echoes.find(id)?.reasoning ?? []),
    ...(index === 0 ? text : []),
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

/** Keywords that the vendor rejects at the top of a schema. The tool itself still checks its input. */
const REJECTED_AT_TOP = new Set(["$schema", "oneOf", "anyOf", "allOf", "enum", "not"]);

function toTool({ name, description, inputSchema }: ChatRequest["tools"][number]): Item {
  const taken = Object.entries(inputSchema).filter(([keyword]) => !REJECTED_AT_TOP.has(keyword));
  // An object schema without `properties` is rejected too.
  const parameters = { properties: {}, ...Object.fromEntries(taken) };
  return { type: "function", name, description, strict: false, parameters };
}
