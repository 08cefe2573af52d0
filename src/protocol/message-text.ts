// The text of a user's message. Apart from its schema (content.ts), so that a screen need not load what checks schemas.
import type { UserMessage } from "./content.ts";

/** Its string, or its text blocks joined by `separator`. */
export function textOf(message: UserMessage, separator: string): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .filter((block) => block.type === "text" && typeof block["text"] === "string")
    .map((block) => String(block["text"]))
    .join(separator);
}
