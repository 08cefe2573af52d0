// Makes untrusted text safe for rows: base/sanitize.ts, and characters whose width terminals disagree on.
import { reveal, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { createPiece, type Piece, STYLE } from "./style.ts";

/** More combining marks would reach into adjacent rows. */
const MARK_FLOOD = /(?<=\p{M}{4})\p{M}/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** Variation selectors: they change the width, and terminals disagree on it. */
const PICTURE_SELECTORS = /[\ufe0e\ufe0f\u20e3]/g;
/** Joins two emoji into one; without it both are shown. */
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu;
const IS_PLAIN = /^[\n\t -~]*$/;

const TAB = 4;
/** Shown for a tab in a request; the same character in the text itself is shown as a code point. */
const TAB_SIGN = "⇥";
const REVEALED = /[^ -~]/u;

/** Multi-line text. */
export function toSafeText(text: string): string {
  return IS_PLAIN.test(text) ? text : steady(sanitize(text.replace(EMOJI_JOINER, "")));
}

/** One line; runs of whitespace become one space, so that two spaces are always ours. */
export function toSafeLine(text: string): string {
  const line = IS_PLAIN.test(text) ? text : steady(sanitizeLine(text.replace(EMOJI_JOINER, "")));
  return line.replace(/[\n\t ]+/g, " ").trim();
}

function steady(text: string): string {
  return text
    .replace(PICTURE_SELECTORS, "")
    .replace(LONE_SURROGATE, showCodePoint)
    .replace(MARK_FLOOD, showCodePoint);
}

/** Expands tabs to the next stop. */
export function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let out = "";
  for (const [at, part] of line.split("\t").entries()) {
    if (at > 0) out += " ".repeat(TAB - (out.length % TAB));
    out += part;
  }
  return out;
}

/**
 * A line of a request. Misleading characters are shown as code points in a style of their own: `\x1b`, `<U+202E>`, and a tab
 * as a sign.
 */
export function drawRevealed(line: string, style: string, isAscii: boolean): Piece[] {
  if (/^[ -~]*$/.test(line)) return [createPiece(line, style)];
  const pieces: Piece[] = [];
  let text = "";
  let look = style;
  let marks = 0;
  for (const char of line) {
    marks = /\p{M}/u.test(char) ? marks + 1 : 0;
    const shown = showChar(char, marks, isAscii);
    const next = shown === char ? style : STYLE.shown;
    if (next !== look && text !== "") {
      pieces.push(createPiece(text, look));
      text = "";
    }
    look = next;
    text += shown;
  }
  return text === "" ? pieces : [...pieces, createPiece(text, look)];
}

/** Literal text that looks like our escapes. */
export function looksRevealed(text: string): boolean {
  return /\\x[0-9a-f]{2}|<U\+[0-9A-F]{4,6}>/.test(text);
}

function showChar(char: string, marks: number, isAscii: boolean): string {
  if (char === "\t") return isAscii ? "\\t" : `${TAB_SIGN}   `;
  // A stray newline must not move the rest to a new row.
  if (char === "\n") return "\\n";
  const shown = reveal(char);
  if (shown !== char) return shown;
  const isOdd = char === TAB_SIGN || char === "\u20e3" || marks > 4 || (isAscii && REVEALED.test(char));
  return isOdd ? showCodePoint(char) : char;
}

function showCodePoint(char: string): string {
  return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
