// The help over the screen, made from the table of keys.
import { KEYS, type KeyRow, keyName, type Place } from "./keys/table.ts";
import { type Line, piece, STYLE } from "./rows/style.ts";
import { wrapWords } from "./rows/wrap.ts";
import type { Look } from "./screen-types.ts";
import { draw } from "./theme.ts";

export const PLACES: readonly (readonly [Place, string])[] = [
  ["chat", "Writing a message (chat)"],
  ["text", "In any text"],
  ["empty", "While nothing is written"],
  ["any", "Anywhere"],
  ["choices", "Deciding a request (approval)"],
  ["question", "Answering questions (input)"],
  ["search", "In a search"],
];

/** What the table does not hold: keys of a text that everybody's shell has, and numbers. */
const MORE: { readonly [In in Place]?: readonly (readonly [string, string])[] } = {
  text: [
    ["Ctrl-A Ctrl-E", "beginning, end of the line"],
    ["Alt-B Alt-F", "a word back, forth"],
    ["Ctrl-K Ctrl-U Ctrl-W Alt-D", "kill to the end, to the beginning, a word back, a word forth"],
    ["Ctrl-Y", "put back what was killed"],
  ],
  choices: [["1 … 9", "select the choice with this number"]],
  question: [["1 … 9", "take or choose the option with this number"]],
};

export function helpLines(scroll: number, columns: number, height: number, look: Look): string[] {
  const lines = allLines(columns);
  const from = Math.max(0, Math.min(scroll, lines.length - height));
  return lines.slice(from, from + height).map((line) => draw(line, columns, look));
}

export function helpRowCount(columns: number): number {
  return allLines(columns).length;
}

function allLines(columns: number): Line[] {
  return PLACES.flatMap(([place, title]) => [
    [piece(title, STYLE.bold)],
    ...keyRows(place).flatMap(([keys, summary]) => keyLines(keys, summary, columns)),
  ]);
}

/** What the keys of a place do: their names, and in words. */
export function keyRows(place: Place): (readonly [keys: string, summary: string])[] {
  const rows = (KEYS as readonly KeyRow[]).filter(({ where }) => where === place);
  const own = rows.map(({ keys, summary }) => [keys.map(keyName).join(", "), summary] as const);
  return [...own, ...(MORE[place] ?? [])];
}

/** Long names of keys have a row of their own. */
export function keyLines(keys: string, summary: string, columns: number): Line[] {
  const indent = Math.min(28, Math.floor(columns / 2));
  const [first = [], ...rest] = wrapWords([piece(summary)], Math.max(8, columns - indent - 2));
  const name =
    keys.length > indent - 3
      ? [piece(`  ${keys}  `, STYLE.accent)]
      : [piece(`  ${keys}`.padEnd(indent), STYLE.accent)];
  if (keys.length > indent - 3)
    return [name, ...[first, ...rest].map((line) => [piece(" ".repeat(indent)), ...line])];
  return [[...name, ...first], ...rest.map((line) => [piece(" ".repeat(indent)), ...line])];
}
