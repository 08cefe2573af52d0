// Texts in the columns of a terminal: wide characters (CJK, emoji) take two, marks that join a letter take none.
import stringWidth from "string-width";

const ASCII = /^[ -~]*$/;
/** A text of marks alone is not walked to its end. */
const MAX_UNITS_PER_COLUMN = 16;

export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

export function padToColumns(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

/** At most so many columns, the last of which says that something is missing. No character is cut in two. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const segments = new Intl.Segmenter().segment(text.slice(0, MAX_UNITS_PER_COLUMN * columns));
  let cut = "";
  let used = 0;
  for (const { segment } of segments) {
    used += columnsOf(segment);
    if (used > columns - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}
