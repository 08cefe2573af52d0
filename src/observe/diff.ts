// Counts the lines that a change adds and removes: "+3 -1".
import { countChangedLines, countLines } from "../base/diff.ts";

export interface DiffCount {
  added: number;
  /** Absent if unknown. */
  removed?: number;
}

export function formatDiffCount({ added, removed }: DiffCount): string {
  return removed === undefined ? `+${added}` : `+${added} -${removed}`;
}

export function countText(text: unknown): number {
  return typeof text === "string" ? countLines(text) : 0;
}

export function countEdit(before: unknown, after: unknown): DiffCount {
  const isText = typeof before === "string" && typeof after === "string";
  return isText ? countChangedLines(before, after) : { added: countText(after), removed: countText(before) };
}

/** Counts a unified diff, with or without its file headers. */
export function countHunks(diff: unknown): DiffCount {
  const count = { added: 0, removed: 0 };
  if (typeof diff !== "string") return count;
  let isInHunk = !diff.startsWith("--- ") && !diff.startsWith("diff ");
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) isInHunk = true;
    else if (line.startsWith("diff ")) isInHunk = false;
    else if (isInHunk && line.startsWith("+")) count.added += 1;
    else if (isInHunk && line.startsWith("-")) count.removed += 1;
  }
  return count;
}
