// What others wrote, made safe and of a certain width: base/sanitize.ts, and what only a screen of rows minds.
import { reveal, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { type Piece, piece, STYLE } from "./style.ts";

/** More marks on one letter would reach into the rows above and below. */
const MARK_FLOOD = /(?<=\p{M}{4})\p{M}/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** They choose between two pictures of different width, and terminals do not agree which. */
const PICTURE_SELECTORS = /[\ufe0e\ufe0f\u20e3]/g;
/** What joins two emoji to one picture: without it both are seen. */
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu;
const IS_PLAIN = /^[\n\t -~]*$/;

const TAB = 4;
/** A tab in what is to be decided upon; the same sign in the text itself is shown by its number. */
const TAB_SIGN = "⇥";
const REVEALED = /[^ -~]/u;

/** Lines of prose, code or output. */
export function safeText(text: string): string {
  return IS_PLAIN.test(text) ? text : steady(sanitize(text.replace(EMOJI_JOINER, "")));
}

/** One line; runs of blanks become one, so that two blanks are a sign of ours. */
export function safeLine(text: string): string {
  const line = IS_PLAIN.test(text) ? text : steady(sanitizeLine(text.replace(EMOJI_JOINER, "")));
  return line.replace(/[\n\t ]+/g, " ").trim();
}

function steady(text: string): string {
  return text.replace(PICTURE_SELECTORS, "").replace(LONE_SURROGATE, numbered).replace(MARK_FLOOD, numbered);
}

/** Tabs become blanks up to the next stop. */
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
 * A line of what somebody decides upon. Everything that is not what it looks like is shown by its number, in a look
 * of its own: `\x1b`, `<U+202E>`, and a tab as a sign.
 */
export function revealedLine(line: string, style: string, isAscii: boolean): Piece[] {
  if (/^[ -~]*$/.test(line)) return [piece(line, style)];
  const pieces: Piece[] = [];
  let text = "";
  let look = style;
  let marks = 0;
  for (const char of line) {
    marks = /\p{M}/u.test(char) ? marks + 1 : 0;
    const shown = shownAs(char, marks, isAscii);
    const next = shown === char ? style : STYLE.shown;
    if (next !== look && text !== "") {
      pieces.push(piece(text, look));
      text = "";
    }
    look = next;
    text += shown;
  }
  return text === "" ? pieces : [...pieces, piece(text, look)];
}

/** Letters of the text itself that look like our way to show a character. */
export function looksRevealed(text: string): boolean {
  return /\\x[0-9a-f]{2}|<U\+[0-9A-F]{4,6}>/.test(text);
}

function shownAs(char: string, marks: number, isAscii: boolean): string {
  if (char === "\t") return isAscii ? "\\t" : `${TAB_SIGN}   `;
  // A line has no breaks: one that is in it anyway must not move the rest to the beginning of another row.
  if (char === "\n") return "\\n";
  const shown = reveal(char);
  if (shown !== char) return shown;
  const isOdd = char === TAB_SIGN || char === "\u20e3" || marks > 4 || (isAscii && REVEALED.test(char));
  return isOdd ? numbered(char) : char;
}

function numbered(char: string): string {
  return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
