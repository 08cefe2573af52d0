// The text of messages. Separate from their schemas (content.ts), so that screens do not load zod.
import type { UserMessage } from "./content.ts";

/** The string, or the text blocks joined by `separator`. */
export function readText(message: UserMessage, separator: string): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .filter((block) => block.type === "text" && typeof block["text"] === "string")
    .map((block) => String(block["text"]))
    .join(separator);
}

/** Blocks that are not text: images and others. */
export function countAttachments({ content }: UserMessage): number {
  return typeof content === "string" ? 0 : content.filter(({ type }) => type !== "text").length;
}

/** The text blocks of content of unknown shape, joined. */
export function joinText(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((block) => (block?.type === "text" ? String(block.text ?? "") : "")).join("");
}
