// A unified diff of replacements that are known: no search for differences, so it is exact and fast.

export interface Edit {
  /** Characters of the old text. */
  at: number;
  length: number;
  text: string;
}

const CONTEXT_LINES = 3;
const MAX_DIFF_LINES = 200;
const MAX_LINE_CHARS = 500;

/** Whole lines that change: `from` and `to` count lines of the old text, `to` is the first one after. */
interface Region {
  from: number;
  to: number;
  newLines: string[];
}

/** `edits` in order, without overlaps. */
export function diffOf(oldText: string, edits: readonly Edit[]): string {
  const starts = lineStarts(oldText);
  const regions = regionsOf(oldText, starts, edits);
  const oldLines = splitLines(oldText);
  const printed: string[] = [];
  let shift = 0;
  for (const hunk of hunksOf(regions)) {
    for (const line of printHunk(oldLines, hunk, shift)) printed.push(line);
    for (const { from, to, newLines } of hunk) shift += newLines.length - (to - from);
    if (printed.length > MAX_DIFF_LINES) break;
  }
  const cut =
    printed.length > MAX_DIFF_LINES ? [`[… the diff goes on; ${edits.length} places were changed]`] : [];
  return [...printed.slice(0, MAX_DIFF_LINES), ...cut].join("\n");
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The index of the line that holds the character. */
function lineOf(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Group {
  from: number;
  to: number;
  edits: Edit[];
  /** The last character of what replaces it so far. */
  lastChar: string;
}

function regionsOf(text: string, starts: readonly number[], edits: readonly Edit[]): Region[] {
  const groups: Group[] = [];
  for (const edit of edits) {
    const from = lineOf(starts, edit.at);
    const last = groups.at(-1);
    const group = last !== undefined && from < last.to ? last : { from, to: from, edits: [], lastChar: "\n" };
    if (group !== last) groups.push(group);
    addEdit(group, edit, text, starts);
  }
  return groups.map(({ from, to, edits: own }) => {
    const begin = starts[from] ?? 0;
    const end = starts[to] ?? text.length;
    return {
      from,
      to: Math.min(to, splitCount(text, starts)),
      newLines: splitLines(applied(text, begin, end, own)),
    };
  });
}

function addEdit(group: Group, edit: Edit, text: string, starts: readonly number[]): void {
  const end = edit.at + edit.length;
  const before = group.edits.at(-1);
  const kept = before === undefined ? (starts[group.from] ?? 0) : before.at + before.length;
  if (edit.at > kept) group.lastChar = text[edit.at - 1] ?? "";
  if (edit.text !== "") group.lastChar = edit.text.at(-1) ?? "";
  group.edits.push(edit);
  // Where the end of a line goes and none comes in its place, the next line is drawn into this one.
  const joinsNext = text[end - 1] === "\n" && group.lastChar !== "\n";
  group.to = Math.max(group.to, lineOf(starts, end - 1) + (joinsNext ? 2 : 1));
}

/** Lines, where an end of line at the very end begins no new one. */
function splitCount(text: string, starts: readonly number[]): number {
  return text === "" || text.endsWith("\n") ? starts.length - 1 : starts.length;
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function applied(text: string, begin: number, end: number, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let from = begin;
  for (const edit of edits) {
    parts.push(text.slice(from, edit.at), edit.text);
    from = edit.at + edit.length;
  }
  return parts.join("") + text.slice(from, end);
}

/** Regions whose context would meet are shown together. */
function hunksOf(regions: readonly Region[]): Region[][] {
  const hunks: Region[][] = [];
  for (const region of regions) {
    const previous = hunks.at(-1)?.at(-1);
    if (previous !== undefined && region.from - previous.to <= 2 * CONTEXT_LINES) hunks.at(-1)?.push(region);
    else hunks.push([region]);
  }
  return hunks;
}

function printHunk(oldLines: readonly string[], hunk: readonly Region[], shift: number): string[] {
  const from = Math.max(0, (hunk[0]?.from ?? 0) - CONTEXT_LINES);
  const to = Math.min(oldLines.length, (hunk.at(-1)?.to ?? 0) + CONTEXT_LINES);
  const body: string[] = [];
  // One by one: a call does not take a million arguments.
  const add = (sign: string, lines: readonly string[]) => {
    for (const line of lines) body.push(marked(sign, line));
  };
  let at = from;
  for (const region of hunk) {
    add(" ", oldLines.slice(at, region.from));
    add("-", oldLines.slice(region.from, region.to));
    add("+", region.newLines);
    at = region.to;
  }
  add(" ", oldLines.slice(at, to));
  const grown = hunk.reduce((sum, region) => sum + region.newLines.length - (region.to - region.from), 0);
  return [`@@ -${from + 1},${to - from} +${from + 1 + shift},${to - from + grown} @@`, ...body];
}

function marked(sign: string, line: string): string {
  const text = line.replace(/\r$/, "");
  return sign + (text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text);
}
