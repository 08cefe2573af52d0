// The first columns of a row show its origin: `│ ` per level of sub-agent, then our mark for our own rows, the user's bar
// for the user's, and spaces for untrusted text, which therefore cannot imitate the others.
import type { Line, Piece } from "./style.ts";
import { createPiece, STYLE } from "./style.ts";
import { cutLine, wrapHard, wrapWords } from "./wrap.ts";

/** Deeper sub-agents are not indented further. */
const MAX_DEPTH = 6;
/** Narrower screens omit the bars of sub-agents. */
const MIN_FOR_DEPTH = 40;

export const TEXT_GUTTER: Piece = { text: "  ", style: STYLE.none };
export const PERSON_GUTTER: Piece = { text: "▌ ", style: STYLE.person };
/** Tool input and output. */
const BAR = { text: "  │ ", style: STYLE.dim };
/** A continuation of the same line. */
const BROKEN = { text: "  ┆ ", style: STYLE.dim };

export function drawDepth(depth: number, width: number): Piece[] {
  if (depth === 0 || width < MIN_FOR_DEPTH) return [];
  return [createPiece("│ ".repeat(Math.min(depth, MAX_DEPTH)), STYLE.dim)];
}

/** One of our own rows: mark and text, cut to fit; `end` is never cut. */
export function drawOwnRow(mark: Piece, words: Line, width: number, end: Line = []): Piece[] {
  const head = [createPiece(`${mark.text} `, mark.style)];
  const endLine = end.length === 0 ? [] : cutLine([createPiece("  "), ...end], Math.max(0, width - 2));
  const room = width - 2 - endLine.reduce((sum, { text }) => sum + text.length, 0);
  return cutLine([...head, ...(room > 0 ? cutLine(words, room) : []), ...endLine], width);
}

/** Prose with a gutter on every row. */
export function drawProse(line: Line, gutter: Piece, width: number): Piece[][] {
  return wrapWords(line, width - gutter.text.length).map((row) => [gutter, ...row]);
}

/** One row after a bar, cut to fit. */
export function cutBarRow(line: Line, width: number): Piece[] {
  return [BAR, ...cutLine(line, width - BAR.text.length)];
}

/** Rows after a bar, another bar where the line continues; keeps every character. */
export function drawBarRows(line: Line, width: number, indent = ""): Piece[][] {
  const rows = wrapHard(line, width - indent.length - BAR.text.length);
  return rows.map((row, at) => {
    const bar = at === 0 ? BAR : BROKEN;
    return [{ ...bar, text: indent + bar.text }, ...row];
  });
}
