// Counts the lines that a change adds and removes: "+3 -1".
import { diffHunks, endLastLine } from "../base/diff.ts";

export interface DiffCount {
  added: number;
  /** Absent if unknown. */
  removed?: number;
}

/** Above this size all lines count as changed. */
const MAX_CHARS = 200_000;

export function formatDiffCount({ added, removed }: DiffCount): string {
  return removed === undefined ? `+${added}` : `+${added} -${removed}`;
}

/** A newline at the end ends the last line; it does not start another. */
export function countLines(text: unknown): number {
  if (typeof text !== "string" || text === "") return 0;
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines : lines + 1;
}

export function countEdit(before: unknown, after: unknown): DiffCount {
  if (typeof before !== "string" || typeof after !== "string" || before.length + after.length > MAX_CHARS)
    return { added: countLines(after), removed: countLines(before) };
  const lines = diffHunks(endLastLine(before), endLastLine(after), 0).flatMap((hunk) => hunk.lines);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
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
