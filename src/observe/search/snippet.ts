// Checks a found text against the query, and cuts out the part that shows it. Pure.
import { foldText, foldWithPlaces } from "./words.ts";

export interface Snippet {
  text: string;
  /** Start and end of each match in `text`. */
  marks: [number, number][];
}

const CHARS_BEFORE = 60;
const SNIPPET_CHARS = 240;

/** Undefined if a term does not occur: the index knows words, not their order. */
export function toSnippet(found: string, patterns: readonly RegExp[]): Snippet | undefined {
  const text = found.normalize("NFC");
  const folded = foldText(text);
  const firsts = patterns.map((pattern) => findFirst(folded, pattern));
  if (firsts.includes(-1)) return undefined;
  const first = Math.min(...firsts);
  // Folding may change lengths.
  const place = folded.length === text.length ? first : (foldWithPlaces(text).places[first] ?? 0);
  const start = cutStart(text, place);
  const end = Math.min(text.length, start + SNIPPET_CHARS);
  const part = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const shown = `${start > 0 ? "…" : ""}${part.replace(/\s+/g, " ").trim()}${end < text.length ? "…" : ""}`;
  return { text: shown, marks: listMarks(shown, patterns) };
}

function findFirst(text: string, pattern: RegExp): number {
  const [first] = text.matchAll(pattern);
  return first?.index ?? -1;
}

/** Some words before the match. */
function cutStart(text: string, place: number): number {
  if (text.length <= SNIPPET_CHARS || place <= CHARS_BEFORE) return 0;
  const from = Math.min(place - CHARS_BEFORE, text.length - SNIPPET_CHARS);
  const space = text.slice(from, place).search(/\s/);
  return from + Math.max(0, space);
}

function listMarks(shown: string, patterns: readonly RegExp[]): [number, number][] {
  const { folded, places } = foldWithPlaces(shown);
  const marks: [number, number][] = [];
  for (const pattern of patterns) {
    for (const { index, 0: match } of folded.matchAll(pattern)) {
      marks.push([places[index] ?? 0, places[index + match.length] ?? shown.length]);
    }
  }
  return mergeMarks(marks.toSorted(([a], [b]) => a - b));
}

function mergeMarks(marks: readonly [number, number][]): [number, number][] {
  const merged: [number, number][] = [];
  for (const [start, end] of marks) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}
