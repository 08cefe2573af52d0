// The help overlay, generated from the key table.
import { getKeyName, KEYS, type KeyPlace } from "./keys/table.ts";
import { createPiece, type Line, STYLE } from "./rows/style.ts";
import { wrapWords } from "./rows/wrap.ts";
import type { Look } from "./screen-types.ts";
import { drawLine } from "./theme.ts";

export const PLACES: readonly (readonly [KeyPlace, string])[] = [
  ["chat", "Writing a message (chat)"],
  ["text", "Editing text"],
  ["empty", "With an empty composer"],
  ["any", "Anywhere"],
  ["choices", "Deciding a request (approval)"],
  ["question", "Answering questions (input)"],
  ["search", "Searching"],
];

/** Keys that are not in the table: readline keys and numbers. */
const MORE: { readonly [In in KeyPlace]?: readonly (readonly [string, string])[] } = {
  text: [
    ["Ctrl-A Ctrl-E", "start, end of the line"],
    ["Alt-B Alt-F", "word back, forward"],
    ["Ctrl-K Ctrl-U Ctrl-W Alt-D", "delete to the end, to the start, a word back, a word forward"],
    ["Ctrl-Y", "insert the last deleted text"],
  ],
  choices: [["1 … 9", "select the choice with this number"]],
  question: [["1 … 9", "take or toggle the option with this number"]],
};

export function drawHelp(scroll: number, columns: number, height: number, look: Look): string[] {
  const lines = allLines(columns);
  const from = Math.max(0, Math.min(scroll, lines.length - height));
  return lines.slice(from, from + height).map((line) => drawLine(line, columns, look));
}

export function countHelpRows(columns: number): number {
  return allLines(columns).length;
}

function allLines(columns: number): Line[] {
  return drawPlaces(
    PLACES.map(([place]) => place),
    columns,
  );
}

/** The keys that apply in these places, each under its title. */
export function drawPlaces(places: readonly KeyPlace[], columns: number): Line[] {
  return PLACES.filter(([place]) => places.includes(place)).flatMap(([place, title]) => [
    [createPiece(title, STYLE.bold)],
    ...listKeyRows(place).flatMap(([keys, summary]) => drawKeys(keys, summary, columns)),
  ]);
}

/** Key names and summaries of a place. */
export function listKeyRows(place: KeyPlace): (readonly [keys: string, summary: string])[] {
  const rows = KEYS.filter(({ where }) => where === place);
  const own = rows.map(({ keys, summary }) => [keys.map(getKeyName).join(", "), summary] as const);
  return [...own, ...(MORE[place] ?? [])];
}

/** Long key names get a row of their own. */
export function drawKeys(keys: string, summary: string, columns: number): Line[] {
  const indent = Math.min(28, Math.floor(columns / 2));
  const [first = [], ...rest] = wrapWords([createPiece(summary)], Math.max(8, columns - indent - 2));
  const name =
    keys.length > indent - 3
      ? [createPiece(`  ${keys}  `, STYLE.accent)]
      : [createPiece(`  ${keys}`.padEnd(indent), STYLE.accent)];
  if (keys.length > indent - 3)
    return [name, ...[first, ...rest].map((line) => [createPiece(" ".repeat(indent)), ...line])];
  return [[...name, ...first], ...rest.map((line) => [createPiece(" ".repeat(indent)), ...line])];
}
