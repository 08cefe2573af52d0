// Pieces of a row and their styles: the only place where rows get escape codes. Untrusted text is sanitized before it becomes
// a piece.
import type { Row, RowTheme } from "./types.ts";

/** Text in one style: SGR parameters, "" for none. Contains no newline or tab. */
export interface Piece {
  text: string;
  style: string;
}
export type Line = readonly Piece[];

export const STYLE = {
  none: "",
  dim: "2",
  bold: "1",
  italic: "3",
  underline: "4",
  strike: "9",
  shown: "7",
  good: "32",
  bad: "31",
  warn: "33",
  accent: "36",
  person: "1;34",
  code: "36",
  added: "32",
  removed: "31",
  hunk: "36",
  keyword: "35",
  string: "32",
  number: "33",
  name: "34",
  type: "36",
} as const;

/** ASCII replacements for our own marks, each of the same width. */
const ASCII: Readonly<Record<string, string>> = {
  "│": "|",
  "┆": ":",
  "┃": "#",
  "├": "+",
  "└": "`",
  "─": "-",
  "┼": "+",
  "●": "*",
  "◌": "o",
  "◐": "|",
  "◓": "/",
  "◑": "-",
  "◒": "\\",
  "○": "o",
  "✓": "+",
  "✗": "x",
  "∴": ".",
  "▌": ">",
  "»": ">",
  "…": "~",
  "•": "-",
  "·": "-",
  "—": "-",
  "–": "-",
  "→": ">",
  "☐": "o",
  "☑": "x",
  "⋮": ":",
  "↳": ">",
  "↑": "^",
  "↓": "v",
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
};

export function createPiece(text: string, style: string = STYLE.none): Piece {
  return { text, style };
}

/** Combines two styles. */
export function combineStyles(outer: string, inner: string): string {
  if (outer === "" || inner === "") return outer + inner;
  return `${outer};${inner}`;
}

export function toPlain(line: Line): string {
  let text = "";
  for (const { text: part } of line) text += part;
  return text;
}

export function toRow(line: Line, entry: string, theme: RowTheme): Row {
  const shown = theme.isAscii ? line.map(({ text, style }) => createPiece(toAscii(text), style)) : line;
  const text = toPlain(shown);
  return { text, ansi: theme.hasColor ? toAnsi(shown) : text, entry };
}

function toAnsi(line: Line): string {
  let ansi = "";
  let current = "";
  for (const { text, style } of line) {
    if (text === "") continue;
    if (style !== current) {
      if (current !== "") ansi += "\u001b[0m";
      if (style !== "") ansi += `\u001b[${style}m`;
      current = style;
    }
    ansi += text;
  }
  return current === "" ? ansi : `${ansi}\u001b[0m`;
}

function toAscii(text: string): string {
  return text.replace(/[^ -~]/gu, (char) => ASCII[char] ?? "?");
}
