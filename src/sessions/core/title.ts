// The title of a session: its first user message, on one line, at most 80 characters.
import type { UserMessage } from "../../protocol/content.ts";
import { readText } from "../../protocol/message-text.ts";

const MAX_LENGTH = 80;
const MAX_LOOKED_AT = 4_000;

export function makeTitle(message: UserMessage): string | undefined {
  // Long messages are cut before they are looked at letter by letter.
  const text = readText(message, " ").slice(0, MAX_LOOKED_AT).replace(/\s+/g, " ").trim();
  if (text === "") return undefined;
  const characters = [...text];
  if (characters.length <= MAX_LENGTH) return text;
  return `${characters
    .slice(0, MAX_LENGTH - 1)
    .join("")
    .trimEnd()}…`;
}
