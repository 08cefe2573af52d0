// Our history as Anthropic's: the system prompt on top, results of tools as blocks of user messages, turns that alternate.
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { AssistantMessage, Message, ToolMessage, UserContentPart, UserMessage } from "../../messages.ts";
import type { EchoMemory } from "../echo-memory.ts";
import { inputToObject, nameToIdentifier } from "../settle.ts";
import { type ChatRequest, ProviderError } from "../types.ts";
import type { CreateParams } from "./client.ts";

/** The API wants a limit; ours is what every current model can write. */
const DEFAULT_MAX_TOKENS = 32_000;
const CACHE = { cache_control: { type: "ephemeral" as const } };
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
const BEGINNING = "(The beginning of this conversation was left out.)";

/** Blocks of thought, which go back unchanged before the call that they led to. */
export type Thoughts = readonly ContentBlockParam[];

/** `temperature` is not sent: the API of the SDK's version has none. */
export function buildParams(
  request: ChatRequest,
  thoughts: EchoMemory<Thoughts>,
  stream: boolean,
): CreateParams {
  const system = toSystem(request.messages);
  const tools = toTools(request.tools, system.length === 0);
  return {
    model: request.model,
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length === 0 ? {} : { system }),
    messages: cached(toMessages(request.messages, thoughts)),
    ...(tools.length === 0 ? {} : { tools }),
    stream,
  };
}

/** Tools come before the system prompt in the cache, so its mark holds both. */
function toSystem(messages: readonly Message[]): TextBlockParam[] {
  const texts = messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const text = texts.filter((part) => part.trim() !== "").join("\n\n");
  return text === "" ? [] : [{ type: "text", text, ...CACHE }];
}

function toTools(tools: ChatRequest["tools"], isMarked: boolean): Tool[] {
  return tools.map(({ name, description, inputSchema }, index) => {
    const { $schema: _, ...schema } = inputSchema;
    const mark = isMarked && index === tools.length - 1 ? CACHE : {};
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
  if (typeof message.content === "string") return textBlocks(message.content);
  return message.content.flatMap(toPart);
}

function toAssistant(message: AssistantMessage, thoughts: EchoMemory<Thoughts>): ContentBlockParam[] {
  const calls = message.toolCalls ?? [];
  return [
    ...(thoughts.find(calls[0]?.id) ?? []),
    ...textBlocks(message.content ?? ""),
    ...calls.map(({ id, name, input }) => ({
      type: "tool_use" as const,
      id: safeId(id),
      name: nameToIdentifier(name),
      input: inputToObject(input),
    })),
  ];
}

function toResult({ toolCallId, content, isError }: ToolMessage): ContentBlockParam {
  return {
    type: "tool_result",
    tool_use_id: safeId(toolCallId),
    ...(content === "" ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}

/** Blocks without any visible text are refused. */
function textBlocks(text: string): TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toPart(part: UserContentPart): (TextBlockParam | ImageBlockParam)[] {
  return part.type === "text" ? textBlocks(part.text) : [toImage(part.image_url.url)];
}

function toImage(url: string): ImageBlockParam {
  if (/^https?:\/\//i.test(url)) return { type: "image", source: { type: "url", url } };
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  const mediaType = IMAGE_TYPES.find((type) => type === data?.[1]?.toLowerCase());
  if (data?.[2] === undefined || mediaType === undefined) {
    const message = `Anthropic takes images as ${IMAGE_TYPES.join(", ")}; convert the image, or leave it out`;
    throw new ProviderError({ kind: "bad_request", message });
  }
  return { type: "image", source: { type: "base64", media_type: mediaType, data: data[2] } };
}

/** Calls of another vendor can have ids that this one refuses. */
function safeId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "_";
}

/** The whole history so far is read from the cache by the next request. */
function cached(messages: MessageParam[]): MessageParam[] {
  const blocks = messages.at(-1)?.content;
  const last = Array.isArray(blocks) ? blocks.at(-1) : undefined;
  if (last?.type === "text" || last?.type === "tool_result" || last?.type === "image")
    Object.assign(last, CACHE);
  return messages;
}
