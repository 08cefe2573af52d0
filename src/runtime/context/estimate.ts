// Estimates tokens: four bytes of UTF-8 are one token, a message costs a little more than its text, and an image has a
// fixed cost. Real tokenizers differ by vendor and model, and budgets leave room for that; the estimate is
// deterministic.
import type { Message, ToolCall, UserContentPart } from "../messages.ts";

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_CALL = 8;
/** Roughly what vendors count for a screenshot. */
export const TOKENS_PER_IMAGE = 1600;

export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function estimateMessage(message: Message): number {
  if (message.role === "assistant") {
    const calls = message.toolCalls?.reduce((sum, call) => sum + estimateCall(call), 0) ?? 0;
    return TOKENS_PER_MESSAGE + estimateText(message.content ?? "") + calls;
  }
  if (typeof message.content === "string") return TOKENS_PER_MESSAGE + estimateText(message.content);
  return TOKENS_PER_MESSAGE + message.content.reduce((sum, part) => sum + estimatePart(part), 0);
}

/** `reserveForImages`: minimum for the images of all messages, if there are any. */
export function estimateMessages(messages: readonly Message[], reserveForImages = 0): number {
  const images = messages.reduce((sum, message) => sum + countImages(message), 0) * TOKENS_PER_IMAGE;
  const missing = images === 0 ? 0 : Math.max(0, reserveForImages - images);
  return messages.reduce((sum, message) => sum + estimateMessage(message), missing);
}

function countImages(message: Message): number {
  if (message.role !== "user" || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image_url").length;
}

function estimatePart(part: UserContentPart): number {
  return part.type === "text" ? estimateText(part.text) : TOKENS_PER_IMAGE;
}

function estimateCall({ name, input }: ToolCall): number {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  return TOKENS_PER_CALL + estimateText(name) + estimateText(text);
}
