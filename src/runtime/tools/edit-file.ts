// edit_file: replaces an exact string in a file.
import * as z from "zod";
import { diffHunks, formatHunks } from "../../base/diff.ts";
import type { Located } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { explainMiss } from "./edit-hint.ts";
import { checkWritable, formatPath, formatTitle, isProtected, toPathTarget } from "./guard.ts";
import { checkSurrogates, decodeText } from "./text.ts";
import { ToolError } from "./types.ts";
import { MAX_WRITE_BYTES } from "./write-file.ts";

const MAX_LISTED = 10;

const Input = z.strictObject({
  path: z.string().min(1).describe("Path relative to the working directory, or absolute within it."),
  oldString: z
    .string()
    .min(1, "must not be empty; to create or replace a whole file use write_file")
    .describe("The exact text to replace, including whitespace, without line numbers."),
  newString: z.string().describe("The replacement text."),
  replaceAll: z
    .boolean()
    .optional()
    .describe("Replace every occurrence. Otherwise oldString must occur exactly once."),
});

interface Memo {
  located: Located;
  hash: string;
  newText: string;
  diff: string;
  count: number;
}

export const editFileTool = defineTool({
  name: "edit_file",
  description:
    "Replaces an exact string in a file. oldString must occur exactly once, unless replaceAll is set: " +
    "include surrounding lines to make it unique. Read the file first.",
  input: Input,
  metadata: { sideEffect: "workspace", defaultDecision: "ask" },
  async plan({ path, oldString, newString, replaceAll }, { workspace }) {
    const located = await workspace.locate(path);
    const plan = { title: formatTitle("edit_file", located), targets: [toPathTarget("write", located)] };
    // The write will be refused; until then, do not show the content.
    if (isProtected(located)) return plan;
    if (oldString === newString) {
      throw new ToolError("no_change", "oldString and newString are the same: nothing would change");
    }
    const { bytes, hash } = await workspace.read(path, { maxBytes: MAX_WRITE_BYTES });
    const oldText = decodeText(path, bytes);
    const places = findOccurrences(oldText, oldString);
    checkOccurrences(path, oldText, oldString, places, replaceAll ?? false);
    const newText = replaceAt(oldText, oldString, newString, places);
    checkSurrogates(newText);
    const diff = diffEdits(
      oldText,
      places.map((at) => ({ at, length: oldString.length, text: newString })),
    );
    const memo: Memo = { located, hash, newText, diff, count: places.length };
    return { ...plan, changes: [{ path: located.lexical, oldText, newText }], memo };
  },
  async execute({ path }, plan, { workspace }) {
    checkWritable(await workspace.locate(path));
    const { located, hash, newText, diff, count } = plan.memo as Memo;
    await workspace.write(path, newText, hash, located.real);
    const done = `edited ${formatPath(located.lexical)}: ${count} ${count === 1 ? "replacement" : "replacements"}`;
    return { ok: true, content: `${done}\n\n${diff}`, metadata: { changes: plan.changes ?? [], diff } };
  },
});

function findOccurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    places.push(at);
  }
  return places;
}

function checkOccurrences(
  path: string,
  text: string,
  wanted: string,
  places: readonly number[],
  isForAll: boolean,
): void {
  if (places.length === 0) {
    throw new ToolError("no_match", `oldString was not found in ${path}: ${explainMiss(text, wanted)}`);
  }
  if (places.length === 1 || isForAll) return;
  const lines = findLineNumbers(text, places.slice(0, MAX_LISTED)).join(", ");
  const more = places.length > MAX_LISTED ? ", …" : "";
  const advice = "include surrounding lines to make it unique, or set replaceAll";
  const message = `oldString occurs ${places.length} times in ${path} (lines ${lines}${more}); ${advice}`;
  throw new ToolError("several_matches", message);
}

function findLineNumbers(text: string, places: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return places.map((place) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < place; at = text.indexOf("\n", at + 1))
      line += 1;
    from = place;
    return line;
  });
}

function replaceAt(text: string, wanted: string, newString: string, places: readonly number[]): string {
  const grown = Buffer.byteLength(text) + places.length * Buffer.byteLength(newString);
  if (grown - places.length * Buffer.byteLength(wanted) > MAX_WRITE_BYTES) {
    throw new ToolError("too_large", `the file would be larger than ${MAX_WRITE_BYTES} bytes`);
  }
  const parts: string[] = [];
  let from = 0;
  for (const place of places) {
    parts.push(text.slice(from, place), newString);
    from = place + wanted.length;
  }
  return parts.join("") + text.slice(from);
}

interface Edit {
  /** Offset in the old text. */
  at: number;
  length: number;
  text: string;
}

const MAX_DIFF_LINES = 200;
const MAX_LINE_CHARS = 500;
/** Enough to fill the diff; the rest of the file is not compared. */
const MAX_DIFF_EDITS = 100;

/**
 * A unified diff, bounded in lines and in characters per line. `edits` must be sorted and must not overlap.
 */
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
