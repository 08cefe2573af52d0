// The lines of a changed file as rows of a screen, in one column or two: numbered, highlighted, with the words that differ.
// Not sanitized; each screen does that when it draws.
import { defined } from "../../base/values.ts";
import { diffWords, type WordPart } from "../../base/word-diff.ts";
import type { FileChangesReply, Hunk } from "../../protocol/changes.ts";
import { type CodeSpan, findLanguage, highlight } from "./highlight.ts";

/** A highlighted piece of a line; `isChanged`: the word differs from the line's other version. */
export interface ChangeSpan extends CodeSpan {
  isChanged?: true;
}

export interface ChangeLine {
  kind: "context" | "add" | "delete";
  /** Index among all lines of the file. */
  at: number;
  /** Line number before and after, where the line exists. */
  old?: number;
  new?: number;
  text: string;
  spans: readonly ChangeSpan[];
  /** `cr`: ends with a carriage return, in a file where not all lines do. `none`: the file ends without a newline. */
  end?: "cr" | "none";
}

/** The head of a hunk. */
export interface ChangeHead {
  kind: "hunk";
  /** Of the first line below it. */
  at: number;
  text: string;
}

export type ChangeRow = ChangeHead | ChangeLine;

/** A row in two columns: before on the left, after on the right. A head spans both. */
export type ChangePair = ChangeHead | { kind: "pair"; left?: ChangeLine; right?: ChangeLine };

/** In long runs of changed lines pairing by position says little, and comparing costs. */
const MAX_PAIRED = 200;
/** Characters to highlight at once: longer code is not highlighted at all. */
const MAX_COLORED = 15_000;

/** Up to `limit` lines, without their heads. */
export function toChangeRows(reply: FileChangesReply, limit = Number.POSITIVE_INFINITY): ChangeRow[] {
  const lang = findLanguage(reply.path);
  const hasMixedEnds = findMixedEnds(reply.hunks);
  const rows: ChangeRow[] = [];
  let at = 0;
  for (const hunk of reply.hunks) {
    if (at >= limit) break;
    rows.push({ kind: "hunk", at, text: formatHead(hunk) });
    const lines = hunk.lines.slice(0, limit - at);
    for (const line of numberLines({ ...hunk, lines }, { lang, hasMixedEnds, at })) rows.push(line);
    at += lines.length;
  }
  return rows;
}

export function countChangeLines({ hunks }: FileChangesReply): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** Deleted lines on the left, each beside the added line at the same position of the run that follows. */
export function toChangePairs(rows: readonly ChangeRow[]): ChangePair[] {
  const pairs: ChangePair[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    if (row === undefined) break;
    if (row.kind === "hunk") {
      pairs.push(row);
      at += 1;
    } else if (row.kind === "context") {
      pairs.push({ kind: "pair", left: row, right: row });
      at += 1;
    } else {
      const { deleted, added } = takeRun(rows, at);
      for (let index = 0; index < Math.max(deleted.length, added.length); index += 1) {
        const [left, right] = [deleted[index], added[index]];
        pairs.push({ kind: "pair", ...defined({ left, right }) });
      }
      at += deleted.length + added.length;
    }
  }
  return pairs;
}

/** The deleted lines from `at` on, and the added lines after them. */
function takeRun(
  rows: readonly ChangeRow[],
  at: number,
): { deleted: readonly ChangeLine[]; added: readonly ChangeLine[] } {
  const deleted = takeKind(rows, at, "delete");
  return { deleted, added: takeKind(rows, at + deleted.length, "add") };
}

function takeKind(rows: readonly ChangeRow[], from: number, kind: "add" | "delete"): ChangeLine[] {
  const run: ChangeLine[] = [];
  for (let at = from; ; at += 1) {
    const row = rows[at];
    if (row === undefined || row.kind !== kind) return run;
    run.push(row);
  }
}

function formatHead({ old_start, old_lines, new_start, new_lines, section }: Hunk): string {
  const range = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`);
  const head = `@@ -${range(old_start, old_lines)} +${range(new_start, new_lines)} @@`;
  return section === undefined || section === "" ? head : `${head} ${section}`;
}

/** In a file with the same line ends everywhere, they are not worth showing. */
function findMixedEnds(hunks: readonly Hunk[]): boolean {
  const lines = hunks.flatMap(({ lines }) => lines).filter(({ no_newline }) => !no_newline);
  const count = lines.filter(({ text }) => text.endsWith("\r")).length;
  return count > 0 && count < lines.length;
}

interface Numbering {
  lang: string;
  hasMixedEnds: boolean;
  at: number;
}

function numberLines(hunk: Hunk, { lang, hasMixedEnds, at }: Numbering): ChangeLine[] {
  const before = colorSide(hunk, "add", lang);
  const after = colorSide(hunk, "delete", lang);
  let [old, now] = [hunk.old_start, hunk.new_start];
  const lines = hunk.lines.map(({ kind, text, no_newline }, index): ChangeLine => {
    const isCr = text.endsWith("\r") && !no_newline;
    const end = no_newline ? ("none" as const) : isCr && hasMixedEnds ? ("cr" as const) : undefined;
    return {
      kind,
      at: at + index,
      text: isCr ? text.slice(0, -1) : text,
      spans: (kind === "delete" ? before : after)[index] ?? [],
      ...(kind === "add" ? {} : { old: old++ }),
      ...(kind === "delete" ? {} : { new: now++ }),
      ...defined({ end }),
    };
  });
  return markWords(lines);
}

/** Highlights the lines of one version together, because a string or comment may span several. By index in the hunk. */
function colorSide({ lines }: Hunk, without: "add" | "delete", lang: string): (CodeSpan[] | undefined)[] {
  const texts = lines
    .filter(({ kind }) => kind !== without)
    .map(({ text, no_newline }) => (no_newline ? text : text.replace(/\r$/, "")));
  const colored = chunkLines(texts).flatMap((chunk) => highlight(chunk.join("\n"), lang));
  let next = 0;
  return lines.map(({ kind }) => (kind === without ? undefined : colored[next++]));
}

/** Parts short enough to be highlighted. */
function chunkLines(texts: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let room = 0;
  for (const text of texts) {
    room -= text.length + 1;
    if (room < 0) {
      chunks.push([]);
      room = MAX_COLORED - text.length;
    }
    chunks.at(-1)?.push(text);
  }
  return chunks;
}

function markWords(lines: ChangeLine[]): ChangeLine[] {
  const marked = [...lines];
  for (let at = 0; at < lines.length; ) {
    const { deleted, added } = takeRun(lines, at);
    const count = Math.min(deleted.length, added.length);
    for (let index = 0; index < count && deleted.length + added.length <= MAX_PAIRED; index += 1) {
      const [left, right] = [deleted[index], added[index]];
      const words = left === undefined || right === undefined ? undefined : diffWords(left.text, right.text);
      if (left === undefined || right === undefined || words === undefined) continue;
      marked[at + index] = { ...left, spans: splitSpans(left.spans, words.before) };
      marked[at + deleted.length + index] = { ...right, spans: splitSpans(right.spans, words.after) };
    }
    at += Math.max(1, deleted.length + added.length);
  }
  return marked;
}

/** Splits highlighted spans where changed words begin and end. Both cover the same text. */
function splitSpans(spans: readonly CodeSpan[], parts: readonly WordPart[]): ChangeSpan[] {
  const split: ChangeSpan[] = [];
  let part = 0;
  let used = 0;
  for (const { text, scope } of spans) {
    for (let at = 0; at < text.length; ) {
      const { text: words = "", isChanged = false } = parts[part] ?? {};
      const length = words === "" ? text.length : words.length - used;
      const piece = text.slice(at, at + length);
      split.push({ text: piece, scope, ...(isChanged ? { isChanged } : {}) });
      at += piece.length;
      used += piece.length;
      if (used >= words.length) {
        part += 1;
        used = 0;
      }
    }
  }
  return split;
}
