// Puts a text on one line within a limit, so that it cannot look like a heading or another list entry.
import { sanitizeLine } from "../../base/sanitize.ts";

export function shorten(text: string, maxChars: number): string {
  const line = text
    .trimStart()
    .slice(0, maxChars * 4)
    .replace(/\s+/g, " ")
    .trim();
  return cutLine(line, maxChars);
}

/** The same for untrusted text: control and invisible characters are made visible. */
export function toOneLine(text: string, maxChars: number): string {
  return cutLine(sanitizeLine(shorten(text, maxChars)), maxChars);
}

function cutLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
