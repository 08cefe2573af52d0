// The title of a conversation, from its first message, and the name a user gives it.
import { CodedError } from "../../base/coded-error.ts";

const TITLE_CHARS = 60;
const NAME_CHARS = 100;

export function makeTitle(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line === "") return "(image)";
  if (line.length <= TITLE_CHARS) return line;
  return `${line.slice(0, TITLE_CHARS).replace(/\s+\S*$|[\ud800-\udbff]$/, "")}…`;
}

/** Throws `bad_name`. */
export function checkName(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > NAME_CHARS || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name))
    throw new CodedError("bad_name", `a name is one line of at most ${NAME_CHARS} characters`);
  return name;
}
