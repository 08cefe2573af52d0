// The diff that edit_file returns: a unified diff, bounded in lines and in characters per line.
import { diffHunks, formatHunks } from "../../base/diff.ts";

export interface Edit {
  /** Offset in the old text. */
  at: number;
  length: number;
  text: string;
}

const MAX_DIFF_LINES = 200;
const MAX_LINE_CHARS = 500;
/** Enough to fill the diff; the rest of the file is not compared. */
const MAX_DIFF_EDITS = 100;

/** `edits` must be sorted and must not overlap. */
export function diffEdits(oldText: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let count = 0;
  let from = 0;
  let end = 0;
  for (const { at, length, text } of edits) {
    if (count >= MAX_DIFF_EDITS && at >= end) break;
    parts.push(oldText.slice(from, at), text);
    from = at + length;
    end = findLineEnd(oldText, from);
    count += 1;
  }
  const rest = count === edits.length ? oldText.length : end;
  const newText = parts.join("") + oldText.slice(from, rest);
  const lines = formatHunks(diffHunks(oldText.slice(0, rest), newText));
  const isCut = count < edits.length || lines.length > MAX_DIFF_LINES;
  const shown = lines.slice(0, MAX_DIFF_LINES).map(shortenLine);
  return [...shown, ...(isCut ? [`[… diff truncated; ${edits.length} replacements in total]`] : [])].join(
    "\n",
  );
}

function findLineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline + 1;
}

function shortenLine(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MAX_LINE_CHARS + 1 ? `${text.slice(0, MAX_LINE_CHARS + 1)}…` : text;
}
