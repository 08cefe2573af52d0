// The diff of a request: with little context, and with the words that differ. Nothing of a changed line is left out.

import { diffWords, type WordPart } from "../../base/word-diff.ts";
import type { FileChange } from "../../protocol/requests.ts";
import { type DiffLine, parseDiff } from "./diff.ts";

/** Unchanged lines shown on either side of a change. */
const CONTEXT_LINES = 2;
/** In long runs of changed lines pairing by position says little, and comparing costs. */
const MAX_PAIRED = 200;
/** Only plain words are marked: other characters are drawn as one text, so that none of them can hide. */
const PLAIN = /^[\t -~\p{L}\p{N}]*$/u;

export interface DiffRun {
  /** Near a change; other runs are left out, with their number of lines. */
  isNear: boolean;
  lines: string[];
}

/**
 * Unchanged lines are left out only if the text is certainly a diff: the "diff" of a new file may be the file itself,
 * whose indented lines look like unchanged ones.
 */
export function splitDiff({ kind, diff = "" }: FileChange): DiffRun[] {
  if (kind !== "update" || !/^(?:@@|--- )/.test(diff)) return [{ isNear: true, lines: [diff] }];
  // Without line numbers the header has no information.
  return findRuns(diff.replace(/^@@\n/, ""));
}

/** Groups diff lines into runs near and away from changes. */
function findRuns(diff: string): DiffRun[] {
  const written = diff.replace(/\n$/, "").split("\n");
  const kinds = parseDiff(diff).lines.map(({ kind }) => kind);
  const near = kinds.map((kind) => kind !== "same");
  for (const [at, kind] of kinds.entries()) {
    if (kind === "add" || kind === "remove")
      near.fill(true, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1);
  }
  const runs: DiffRun[] = [];
  for (const [at, line] of written.entries()) {
    // A single line takes no more room than a note about it.
    const isAlone = near[at - 1] !== false && near[at + 1] !== false;
    const isNear = near[at] !== false || isAlone;
    const run = runs.at(-1);
    if (run?.isNear === isNear) run.lines.push(line);
    else runs.push({ isNear, lines: [line] });
  }
  return runs;
}

/** Each written line, sign included, in parts; a part is marked if the other version of the line does not have it. */
export function splitDiffWords(text: string): WordPart[][] {
  const written = text.replace(/\n$/, "").split("\n");
  const parts = written.map((line): WordPart[] => [{ text: line, isChanged: false }]);
  const { lines } = parseDiff(text);
  for (let at = 0; at < lines.length; ) {
    const removed = countKind(lines, at, "remove");
    const added = countKind(lines, at + removed, "add");
    if (removed + added <= MAX_PAIRED) {
      for (let index = 0; index < Math.min(removed, added); index += 1)
        markPair(parts, at + index, at + removed + index);
    }
    at += Math.max(1, removed + added);
  }
  return parts;
}

function countKind(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let at = from;
  while (lines[at]?.kind === kind) at += 1;
  return at - from;
}

function markPair(parts: WordPart[][], before: number, after: number): void {
  const [old = "", now = ""] = [before, after].map((at) => parts[at]?.[0]?.text);
  if (!PLAIN.test(old) || !PLAIN.test(now)) return;
  const words = diffWords(old.slice(1), now.slice(1));
  if (words === undefined) return;
  parts[before] = [{ text: old.slice(0, 1), isChanged: false }, ...words.before];
  parts[after] = [{ text: now.slice(0, 1), isChanged: false }, ...words.after];
}
