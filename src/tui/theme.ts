// Line building blocks for everything but the feed; nothing is wider than the screen.
import { createPiece, type Line, type Piece, STYLE, toRow } from "./rows/style.ts";
import { cutLine, measureLine, wrapWords } from "./rows/wrap.ts";
import type { Look } from "./screen-types.ts";

/** A line with its SGR codes, cut to the width. */
export function drawLine(line: Line, columns: number, look: Look): string {
  return toRow(cutLine(line, columns), "", look).ansi;
}

/** Wraps a line to at most `most` rows; the last one may be too wide, for `drawLine` to cut. */
export function wrapToRows(line: Line, columns: number, most: number): Line[] {
  const rows = wrapWords(cutLine(line, columns * most), columns);
  if (rows.length <= most) return rows;
  const rest = rows.slice(most - 1).flatMap((row, at) => (at === 0 ? row : [createPiece(" "), ...row]));
  return [...rows.slice(0, most - 1), rest];
}

/** Left and right text; the right side stays while there is room for some of the left. */
export function spread(left: Line, right: Line, columns: number): Piece[] {
  const room = columns - measureLine(right) - 1;
  if (room < Math.min(12, measureLine(left))) return cutLine(left, columns);
  const cut = cutLine(left, room);
  return [...cut, createPiece(" ".repeat(columns - measureLine(cut) - measureLine(right))), ...right];
}

/** A horizontal rule with text in it. */
export function drawRule(left: Line, right: Line, columns: number, style: string = STYLE.dim): Piece[] {
  const start = left.length === 0 ? [] : [createPiece("─ ", style), ...left, createPiece(" ", style)];
  const end = right.length === 0 ? [] : [createPiece(" ", style), ...right, createPiece(" ─", style)];
  const room = columns - measureLine(start) - measureLine(end);
  if (room < 0) return cutLine(start.length > 0 ? start : end, columns);
  return [...start, createPiece("─".repeat(room), style), ...end];
}

/** Joins as many words as fit, separated by dots. */
export function joinParts(words: readonly (Piece | undefined)[], columns: number): Piece[] {
  const line: Piece[] = [];
  for (const word of words) {
    if (word === undefined || word.text === "") continue;
    const next = line.length === 0 ? [word] : [createPiece(" · ", STYLE.dim), word];
    if (measureLine(line) + measureLine(next) > columns) continue;
    line.push(...next);
  }
  return line;
}
