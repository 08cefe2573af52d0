// The title of a request: one line, truncated. The payload has the full text.

const TITLE_CHARS = 200;

export function cutTitle(text: string): string {
  const line = text
    .slice(0, 2 * TITLE_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  const chars = [...line];
  if (chars.length <= TITLE_CHARS && text.length <= 2 * TITLE_CHARS) return line;
  return `${chars.slice(0, TITLE_CHARS).join("")}…`;
}
