// What others wrote, behind a bar on every row of the screen, also where a long line breaks: so it cannot pass for
// our own words. The text was made safe for a terminal before.

const INDENT = "  ";
const BAR = "│ ";
export const BAR_WIDTH = INDENT.length + BAR.length;
/** The same line goes on. */
const BROKEN = "┆ ";
/** So narrow a screen is not wrapped for. */
const MIN_COLUMNS = 20;

export function behindBar(text: string, columns: number, indent = INDENT): string[] {
  // No row reaches the edge of the screen, where some terminals break it by themselves.
  const width = Math.max(MIN_COLUMNS, columns) - indent.length - BAR.length - 1;
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => broken(line, width).map((piece, at) => indent + (at === 0 ? BAR : BROKEN) + piece));
}

/** A single line in one row after our own words; undefined if it does not fit there. */
export function besideBar(words: string, text: string, columns: number): string[] | undefined {
  const row = `${words} │ ${text}`;
  const wide = [...row].reduce((sum, char) => sum + widthOf(char), 0);
  return text.includes("\n") || wide >= Math.max(MIN_COLUMNS, columns) ? undefined : [row];
}

function broken(line: string, width: number): string[] {
  if (!Number.isFinite(width)) return [line];
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const char of line) {
    const wide = widthOf(char);
    if (used + wide > width) {
      pieces.push(piece);
      piece = "";
      used = 0;
    }
    piece += char;
    used += wide;
  }
  return [...pieces, piece];
}

/** At most so many columns of it. */
export function cutTo(text: string, columns: number): string {
  let cut = "";
  let used = 0;
  for (const char of text) {
    used += widthOf(char);
    if (used > columns) return `${cut}…`;
    cut += char;
  }
  return cut;
}

/** At least what a terminal gives it. */
function widthOf(char: string): number {
  if (char === "\t") return 8;
  return char < "\u007f" ? 1 : 2;
}
