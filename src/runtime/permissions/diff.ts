// A unified diff of one changed file, for people. Myers' algorithm; where the two differ too much for it to be of use,
// all old lines go and all new ones come.
import type { FileChange } from "../workspace/types.ts";

const CONTEXT_LINES = 3;
const MAX_EDITS = 400;

type Edit = { kind: " " | "-" | "+"; line: string };

export function unifiedDiff({ path, oldText, newText }: FileChange): string[] {
  const head = [`--- ${oldText === undefined ? "/dev/null" : `a/${path}`}`, `+++ b/${path}`];
  return [...head, ...hunks(edits(linesOf(oldText ?? ""), linesOf(newText)))];
}

/** A last line without newline is another line than one with it. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop();
  return last === "" || last === undefined ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function edits(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

function same(line: string): Edit {
  return { kind: " ", line };
}

function middle(before: readonly string[], after: readonly string[]): Edit[] {
  const trace = before.length === 0 || after.length === 0 ? undefined : shortest(before, after);
  if (trace !== undefined) return walkBack(trace, before, after);
  return [
    ...before.map((line): Edit => ({ kind: "-", line })),
    ...after.map((line): Edit => ({ kind: "+", line })),
  ];
}

/** For each number of edits, how far each diagonal reached. Undefined: it takes more than `MAX_EDITS`. */
function shortest(before: readonly string[], after: readonly string[]): Map<number, number>[] | undefined {
  let reach = new Map([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let count = 0; count <= Math.min(MAX_EDITS, before.length + after.length); count += 1) {
    trace.push(reach);
    const next = new Map(reach);
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = startOn(reach, diagonal, count);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return trace;
    }
    reach = next;
  }
  return undefined;
}

function startOn(reach: ReadonlyMap<number, number>, diagonal: number, count: number): number {
  const down = reach.get(diagonal + 1) ?? -1;
  const right = reach.get(diagonal - 1) ?? -1;
  return diagonal === -count || (diagonal !== count && right < down) ? down : right + 1;
}

function walkBack(
  trace: readonly Map<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Edit[] {
  const found: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = trace.length - 1; count >= 0; count -= 1) {
    const reach = trace[count] ?? new Map<number, number>();
    const start = startOn(reach, x - y, count);
    const isDown = start === (reach.get(x - y + 1) ?? -1) && (x - y === -count || x - y !== count);
    while (x > start) {
      x -= 1;
      y -= 1;
      found.push(same(before[x] ?? ""));
    }
    if (count === 0) break;
    if (isDown) {
      y -= 1;
      found.push({ kind: "+", line: after[y] ?? "" });
    } else {
      x -= 1;
      found.push({ kind: "-", line: before[x] ?? "" });
    }
  }
  return found.toReversed();
}

function hunks(all: readonly Edit[]): string[] {
  const lines: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  for (let at = 0; at < all.length; ) {
    if (!isNear(all, at)) {
      oldLine += 1;
      newLine += 1;
      at += 1;
      continue;
    }
    let to = at;
    while (to < all.length && isNear(all, to)) to += 1;
    const part = all.slice(at, to);
    const removed = part.filter(({ kind }) => kind !== "+").length;
    const added = part.filter(({ kind }) => kind !== "-").length;
    const from = (line: number, count: number) => `${count === 0 ? line - 1 : line},${count}`;
    lines.push(`@@ -${from(oldLine, removed)} +${from(newLine, added)} @@`);
    for (const { kind, line } of part) lines.push(...`${kind}${line}`.split("\n"));
    oldLine += removed;
    newLine += added;
    at = to;
  }
  return lines;
}

/** A change, or at most so many lines away from one. */
function isNear(all: readonly Edit[], at: number): boolean {
  return all.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ kind }) => kind !== " ");
}
