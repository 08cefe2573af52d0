// Line diffs, computed by the `diff` package.
import { type StructuredPatchHunk, structuredPatch } from "diff";

/** Beyond this many edits the search stops: everything from the first to the last changed line is one replacement. */
const MAX_EDITS = 400;
/** Above this size all lines count as changed. */
const MAX_COUNTED_CHARS = 200_000;
const NO_NEWLINE = "\\ No newline at end of file";

/** Empty if the texts are equal. `context` counts the unchanged lines kept around each change. */
export function diffHunks(before: string, after: string, context = 3): readonly StructuredPatchHunk[] {
  const options = { context, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  return patch?.hunks ?? [replaceMiddle(before, after, context)];
}

/** Unified diff lines: each hunk after its `@@` header. */
export function formatHunks(hunks: readonly StructuredPatchHunk[]): string[] {
  const range = (start: number, count: number) => `${count === 0 ? start - 1 : start},${count}`;
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
}

/** All lines of both texts after " ", "-" or "+", without a header. */
export function diffLines(before: string, after: string): readonly string[] {
  return diffHunks(before, after, Infinity)[0]?.lines ?? signLines(" ", before);
}

/** How many lines a change adds and removes. */
export function countChangedLines(before: string, after: string): { added: number; removed: number } {
  if (before.length + after.length > MAX_COUNTED_CHARS)
    return { added: countLines(after), removed: countLines(before) };
  const lines = diffHunks(endLastLine(before), endLastLine(after), 0).flatMap((hunk) => hunk.lines);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
}

/** As an editor counts them. */
export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text === "" || text.endsWith("\n") ? lines : lines + 1;
}

/** A newline at the end ends the last line; it does not start another. */
export function signLines(sign: string, text: string): string[] {
  return splitLines(text).map((line) => sign + line.replace(/\n$/, ""));
}

/** Makes a missing newline at the end not count as a difference. */
export function endLastLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function replaceMiddle(before: string, after: string, context: number): StructuredPatchHunk {
  const [old, now] = [splitLines(before), splitLines(after)];
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - context);
  const [oldEnd, newEnd] = [old.length - tail, now.length - tail];
  const shown = Math.min(tail, context);
  const sign = (mark: string, lines: readonly string[]) =>
    lines.flatMap((line) => (line.endsWith("\n") ? [mark + line.slice(0, -1)] : [mark + line, NO_NEWLINE]));
  return {
    oldStart: from + 1,
    oldLines: oldEnd + shown - from,
    newStart: from + 1,
    newLines: newEnd + shown - from,
    lines: [
      ...sign(" ", old.slice(from, head)),
      ...sign("-", old.slice(head, oldEnd)),
      ...sign("+", now.slice(head, newEnd)),
      ...sign(" ", old.slice(oldEnd, oldEnd + shown)),
    ],
  };
}

/** With their newlines. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
