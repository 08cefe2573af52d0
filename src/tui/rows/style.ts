// Pieces of a row and how they look: the only place where the feed writes escape codes. What others wrote was made
// safe before it became a piece.
import type { Row, RowTheme } from "./types.ts";

/** Text of one look; `style` is the parameters of an SGR code, "" for none. Holds no newline and no tab. */
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

/** Our own marks where the terminal knows only ASCII; each is as wide as what it stands for. */
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

export function piece(text: string, style: string = STYLE.none): Piece {
  return { text, style };
}

/** Two looks at once. */
export function both(outer: string, inner: string): string {
  if (outer === "" || inner === "") return outer + inner;
  return `${outer};${inner}`;
}

export function plainOf(line: Line): string {
  let text = "";
  for (const { text: part } of line) text += part;
  return text;
}

export function toRow(line: Line, entry: string, theme: RowTheme): Row {
  const shown = theme.isAscii ? line.map(({ text, style }) => piece(toAscii(text), style)) : line;
  const text = plainOf(shown);
  return { text, ansi: theme.hasColour ? painted(shown) : text, entry };
}

function painted(line: Line): string {
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
