// How many lines a change adds and removes: "+3 -1".

export interface DiffCount {
  added: number;
  /** Absent: not known. */
  removed?: number;
}

/** A change larger than this is counted without looking for what stays. */
const MAX_CHARS = 200_000;

export function diffText({ added, removed }: DiffCount): string {
  return removed === undefined ? `+${added}` : `+${added} -${removed}`;
}

/** A newline at the end ends the last line; it does not begin another. */
export function linesIn(text: unknown): number {
  if (typeof text !== "string" || text === "") return 0;
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines : lines + 1;
}

/** Lines at the beginning and the end that both texts have do not count. */
export function editCount(before: unknown, after: unknown): DiffCount {
  if (typeof before !== "string" || typeof after !== "string") {
    return { added: linesIn(after), removed: linesIn(before) };
  }
  if (before.length + after.length > MAX_CHARS) return { added: linesIn(after), removed: linesIn(before) };
  const old = linesOf(before);
  const now = linesOf(after);
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return { added: now.length - head - tail, removed: old.length - head - tail };
}

/** Of a unified diff, with or without the two lines that name the files. */
export function hunkCount(diff: unknown): DiffCount {
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

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return text.endsWith("\n") ? lines.slice(0, -1) : lines;
}
