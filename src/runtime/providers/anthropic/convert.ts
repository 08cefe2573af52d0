// Converts a request to Anthropic's format: system prompt at the top, tool results as blocks of user messages, alternating
// turns. The SDK is used for its types only.
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParams,
  MessageParam,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { AssistantMessage, Message, ToolMessage, UserContentPart, UserMessage } from "../../messages.ts";
import type { EchoMemory } from "../echo-memory.ts";
import { inputToObject, nameToIdentifier } from "../settle.ts";
import { type ChatRequest, ProviderError } from "../types.ts";
import { toThinking } from "./thinking.ts";

/** The API requires a limit. Models that allow less say so in the vendor's list. */
const DEFAULT_MAX_TOKENS = 32_000;
const CACHE = { cache_control: { type: "ephemeral" as const } };
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
const BEGINNING = "(The beginning of this conversation was omitted.)";

/** Thinking blocks, sent back unchanged before the tool call that followed them. */
export type Thoughts = readonly ContentBlockParam[];

/** `temperature` is not sent: this version of the API has none. */
export function buildRequest(
  request: ChatRequest,
  thoughts: EchoMemory<Thoughts>,
  stream: boolean,
): MessageCreateParams {
  const system = toSystem(request.messages);
  const tools = toTools(request.tools);
  const maxTokens =
    request.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, request.facts?.outputTokens ?? DEFAULT_MAX_TOKENS);
  return {
    model: request.model,
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system }),
    messages: markForCache(toMessages(request.messages, thoughts)),
    ...(tools.length === 0 ? {} : { tools }),
    ...toThinking(request, maxTokens),
    stream,
  };
}

function toSystem(messages: readonly Message[]): TextBlockParam[] {
  const texts = messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const text = texts.filter((part) => part.trim() !== "").join("\n\n");
  return text === "" ? [] : [{ type: "text", text, ...CACHE }];
}

/** They come first and are the same in every session of a project, unlike the system prompt, which names the directory. */
function toTools(tools: ChatRequest["tools"]): Tool[] {
  return tools.map(({ name, description, inputSchema }, index) => {
    const { $schema: _, ...schema } = inputSchema;
    const mark = index === tools.length - 1 ? CACHE : {};
    return { name, description, input_schema: { ...schema, type: "object" }, ...mark };
  });
}

function toMessages(messages: readonly Message[], thoughts: EchoMemory<Thoughts>): MessageParam[] {
  const turns: { role: "user" | "assistant"; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message, thoughts);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (turns[0]?.role === "assistant")
    turns.unshift({ role: "user", content: [{ type: "text", text: BEGINNING }] });
  return turns;
}

function toBlocks(
  message: UserMessage | AssistantMessage | ToolMessage,
  thoughts: EchoMemory<Thoughts>,
): ContentBlockParam[] {
  if (message.role === "tool") return [toResult(message)];
  if (message.role === "assistant") return toAssistant(message, thoughts);
  if (typeof message.content === "string") return toTextBlocks(message.content);
  return message.content.flatMap(toPart);
}

function toAssistant(message: AssistantMessage, thoughts: EchoMemory<Thoughts>): ContentBlockParam[] {
  const calls = message.toolCalls ?? [];
  return [
    ...(thoughts.find(calls[0]?.id) ?? []),
    ...toTextBlocks(message.content ?? ""),
    ...calls.map(({ id, name, input }) => ({
      type: "tool_use" as const,
      id: toSafeId(id),
      name: nameToIdentifier(name),
      input: inputToObject(input),
    })),
  ];
}

function toResult({ toolCallId, content, isError }: ToolMessage): ContentBlockParam {
  return {
    type: "tool_result",
    tool_use_id: toSafeId(toolCallId),
    ...(content === "" ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}

/** The API rejects text blocks without visible text. */
function toTextBlocks(text: string): TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toPart(part: UserContentPart): (TextBlockParam | ImageBlockParam)[] {
  return part.type === "text" ? toTextBlocks(part.text) : [toImage(part.image_url.url)];
}

function toImage(url: string): ImageBlockParam {
  if (/^https?:\/\//i.test(url)) return { type: "image", source: { type: "url", url } };
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  const mediaType = IMAGE_TYPES.find((type) => type === data?.[1]?.toLowerCase());
  if (data?.[2] === undefined || mediaType === undefined) {
    const message = `Anthropic accepts images as ${IMAGE_TYPES.join(", ")}; convert the image or remove it`;
    throw new ProviderError({ kind: "bad_request", message });
  }
  return { type: "image", source: { type: "base64", media_type: mediaType, data: data[2] } };
}

/** Call ids of another vendor may contain characters that Anthropic rejects. */
function toSafeId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "_";
}

/** Lets the next request read the history so far from the cache. */
function markForCache(messages: MessageParam[]): MessageParam[] {
  const blocks = messages.at(-1)?.content;
  const last = Array.isArray(blocks) ? blocks.at(-1) : undefined;
  if (last?.type === "text" || last?.type === "tool_result" || last?.type === "image")
    Object.assign(last, CACHE);
  return messages;
}
