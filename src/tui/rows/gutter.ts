// The first columns of a row tell whose words it holds. Each sub-agent deep: `│ `. Then a mark of ours where we speak,
// the bar of a person where one spoke, and a blank column where the words are somebody else's: so none of these can
// be imitated by what stands in the text.
import type { Line, Piece } from "./style.ts";
import { piece, STYLE } from "./style.ts";
import { cutLine, wrapHard, wrapWords } from "./wrap.ts";

/** Deeper sub-agents are not indented further. */
const MAX_DEPTH = 6;
/** A screen that is narrower is drawn without the bars of sub-agents. */
const MIN_FOR_DEPTH = 40;

export const TEXT_GUTTER: Piece = { text: "  ", style: STYLE.none };
export const PERSON_GUTTER: Piece = { text: "▌ ", style: STYLE.person };
/** What a tool was given and gave back. */
const BAR = { text: "  │ ", style: STYLE.dim };
/** The same line goes on. */
const BROKEN = { text: "  ┆ ", style: STYLE.dim };

export function depthPrefix(depth: number, width: number): Piece[] {
  if (depth === 0 || width < MIN_FOR_DEPTH) return [];
  return [piece("│ ".repeat(Math.min(depth, MAX_DEPTH)), STYLE.dim)];
}

/** A row of ours: the mark, then words; what does not fit is cut, but never `end`. */
export function ownRow(mark: Piece, words: Line, width: number, end: Line = []): Piece[] {
  const head = [piece(`${mark.text} `, mark.style)];
  const endLine = end.length === 0 ? [] : cutLine([piece("  "), ...end], Math.max(0, width - 2));
  const room = width - 2 - endLine.reduce((sum, { text }) => sum + text.length, 0);
  return cutLine([...head, ...(room > 0 ? cutLine(words, room) : []), ...endLine], width);
}

/** Prose behind a gutter on every row. */
export function proseRows(line: Line, gutter: Piece, width: number): Piece[][] {
  return wrapWords(line, width - gutter.text.length).map((row) => [gutter, ...row]);
}

/** Behind a bar, as much as fits. */
export function cutBarRow(line: Line, width: number): Piece[] {
  return [BAR, ...cutLine(line, width - BAR.text.length)];
}

/** Behind a bar, another one where the line goes on; nothing is lost or added. */
export function barRows(line: Line, width: number, indent = ""): Piece[][] {
  const rows = wrapHard(line, width - indent.length - BAR.text.length);
  return rows.map((row, at) => {
    const bar = at === 0 ? BAR : BROKEN;
    return [{ ...bar, text: indent + bar.text }, ...row];
  });
}
