// Marks untrusted text with a bar on every row, including wrapped ones, so that it cannot imitate our own output. The
// text must already be sanitized.

import { limitWidth } from "../base/width.ts";

const INDENT = "  ";
const BAR = "│ ";
export const BAR_WIDTH = INDENT.length + BAR.length;
/** Marks a wrapped row. */
const BROKEN = "┆ ";
/** Narrower screens are treated as this wide. */
const MIN_COLUMNS = 20;

export function drawBarLines(text: string, columns: number, indent = INDENT): string[] {
  // Rows stop before the edge, where some terminals wrap by themselves.
  const width = Math.max(MIN_COLUMNS, columns) - indent.length - BAR.length - 1;
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => wrapLine(line, width).map((piece, at) => indent + (at === 0 ? BAR : BROKEN) + piece));
}

/** A label and a single line in one row; undefined if they do not fit. */
export function drawBarLine(words: string, text: string, columns: number): string[] | undefined {
  const row = `${words} │ ${text}`;
  const wide = [...row].reduce((sum, char) => sum + limitWidth(char), 0);
  return text.includes("\n") || wide >= Math.max(MIN_COLUMNS, columns) ? undefined : [row];
}

function wrapLine(line: string, width: number): string[] {
  if (!Number.isFinite(width)) return [line];
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const char of line) {
    const wide = limitWidth(char);
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

/** Cuts text to at most this many columns. */
export function truncate(text: string, columns: number): string {
  let cut = "";
  let used = 0;
  for (const char of text) {
    used += limitWidth(char);
    if (used > columns) return `${cut}…`;
    cut += char;
  }
  return cut;
}
