// A text on one line and not longer than wanted, so that it cannot look like a heading or like another entry of a list.
import { sanitizeLine } from "../../base/sanitize.ts";

export function shorten(text: string, maxChars: number): string {
  const line = text
    .trimStart()
    .slice(0, maxChars * 4)
    .replace(/\s+/g, " ")
    .trim();
  return cutLine(line, maxChars);
}

/** The same for what others wrote: controls and invisible characters are shown. */
export function oneLine(text: string, maxChars: number): string {
  return cutLine(sanitizeLine(shorten(text, maxChars)), maxChars);
}

function cutLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
