// Builds a Chat Completions request from the subset that all vendors share, minus what a quirk omits.

import { parseSummary } from "../../context/summary.ts";
import type { AssistantMessage, UserMessage } from "../../messages.ts";
import type { EchoMemory } from "../echo-memory.ts";
import { EFFORTS, pickNearestEffort } from "../effort.ts";
import type { OpenAIConfig } from "../registry-types.ts";
import { inputToObject, nameToIdentifier } from "../settle.ts";
import { type ChatRequest, ProviderError } from "../types.ts";

type Wire = Record<string, unknown>;

export type Quirks = NonNullable<OpenAIConfig["quirks"]>;

/** Vendor data that must be sent back with a tool call or its message. */
export interface OpenAIEcho {
  /** Gemini's signature of its reasoning. */
  call?: Record<string, unknown>;
  /** DeepSeek's and OpenRouter's reasoning, kept with the first call of the message. */
  message?: Record<string, unknown>;
}

export interface OpenAIRequestOptions {
  providerKey: string;
  quirks: Quirks;
  stream: boolean;
  echoes: EchoMemory<OpenAIEcho>;
}

export function buildRequest(request: ChatRequest, options: OpenAIRequestOptions): Record<string, unknown> {
  const { quirks, stream } = options;
  const { effort, facts } = request;
  const hasTools = request.tools.length > 0 && !quirks.omitTools;
  const limit = quirks.maxCompletionTokens ? "max_completion_tokens" : "max_tokens";
  return {
    model: request.model,
    messages: toMessages(request, options),
    ...(hasTools ? { tools: request.tools.map(toTool) } : {}),
    ...(hasTools && !quirks.omitToolChoice ? { tool_choice: "auto" } : {}),
    ...(request.temperature === undefined || quirks.omitTemperature
      ? {}
      : { temperature: request.temperature }),
    ...(request.maxTokens === undefined || quirks.omitMaxTokens ? {} : { [limit]: request.maxTokens }),
    ...(effort === undefined || facts?.reasoning === false
      ? {}
      : { reasoning_effort: pickNearestEffort(effort, quirks.efforts ?? EFFORTS) }),
    ...(request.rootSessionId === undefined || !quirks.promptCacheKey
      ? {}
      : { prompt_cache_key: request.rootSessionId }),
    ...(stream ? { stream: true } : {}),
    ...(stream && !quirks.omitStreamOptions ? { stream_options: { include_usage: true } } : {}),
  };
}

function toMessages(request: ChatRequest, options: OpenAIRequestOptions): Record<string, unknown>[] {
  const { messages } = request;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const wire = messages.flatMap((message, index): Wire[] => {
    if (message.role === "system") {
      return [{ role: options.quirks.developerRole ? "developer" : "system", content: message.content }];
    }
    if (message.role === "user") return [toUser(message, index === last, request, options)];
    if (message.role === "tool") {
      return [{ role: "tool", tool_call_id: message.toolCallId, content: message.content }];
    }
    return toAssistant(message, options.echoes);
  });
  return joinSummary(wire);
}

/** Merges a summary with the next user message: chat templates of some local models reject two in a row. */
function joinSummary(messages: readonly Wire[]): Wire[] {
  const at = messages.findIndex(({ role }) => role === "user");
  const [summary, next] = messages.slice(at);
  if (next?.["role"] !== "user" || typeof summary?.["content"] !== "string") return [...messages];
  if (parseSummary(summary["content"]) === undefined) return [...messages];
  const text = summary["content"];
  const content = Array.isArray(next["content"])
    ? [{ type: "text", text }, ...next["content"]]
    : `${text}\n\n${String(next["content"])}`;
  return [...messages.slice(0, at), { role: "user", content }, ...messages.slice(at + 2)];
}

/** Refuses images in the newest message; older ones are omitted, so that they do not block the conversation. */
function toUser(
  message: UserMessage,
  isLast: boolean,
  { model, facts }: ChatRequest,
  { quirks, providerKey }: OpenAIRequestOptions,
): Record<string, unknown> {
  const { content } = message;
  const acceptsImages = !quirks.noImages && facts?.images !== false;
  if (typeof content === "string" || acceptsImages) return { role: "user", content };
  const hasImages = content.some(({ type }) => type === "image_url");
  if (hasImages && isLast) {
    const text = quirks.noImages
      ? `the provider ${providerKey} does not accept images (providers.${providerKey}.quirks.noImages); send text, or choose another provider`
      : `${model} does not accept images; send text, choose another model, or correct providers.${providerKey}.models`;
    throw new ProviderError({ kind: "bad_request", message: text });
  }
  const texts = content.map((part) => (part.type === "text" ? part.text : "[image omitted]"));
  return { role: "user", content: texts.join("\n") };
}

function toAssistant(message: AssistantMessage, echoes: EchoMemory<OpenAIEcho>): Record<string, unknown>[] {
  const calls = message.toolCalls ?? [];
  const text = message.content ?? "";
  if (calls.length === 0) return text === "" ? [] : [{ role: "assistant", content: text }];
  const toolCalls = calls.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name: nameToIdentifier(name), arguments: JSON.stringify(inputToObject(input)) },
    ...echoes.find(id)?.call,
  }));
  // Some servers reject an empty string here; all accept null.
  const content = text === "" ? null : text;
  return [{ role: "assistant", content, ...echoes.find(calls[0]?.id)?.message, tool_calls: toolCalls }];
}

function toTool({ name, description, inputSchema }: ChatRequest["tools"][number]): Record<string, unknown> {
  // Gemini rejects this keyword.
  const { $schema: _, ...parameters } = inputSchema;
  return { type: "function", function: { name, description, parameters } };
}
