// A tool call as lines: one row that says what it does and how it went; unfolded also what it was given, what it
// changed and what came out of it. Long texts are shown at both ends, with the number of lines between.

import { type DiffLine, parseDiff } from "../../client/view/diff.ts";
import { languageOf } from "../../client/view/highlight.ts";
import { withoutLastNewlines } from "../../client/view/lines.ts";
import { entriesText } from "../../client/view/request-input.ts";
import type { FileChange, ToolEntry, ToolStatus } from "../../client/view/types.ts";
import { durationText, tookMs, toolStatusText } from "../../client/view/words.ts";
import { changeWord } from "../../protocol/change-words.ts";
import { diffLineRows, digitsOf } from "./diff-rows.ts";
import type { EntryOptions } from "./entry-rows.ts";
import { barRows, cutBarRow, ownRow, TEXT_GUTTER } from "./gutter.ts";
import { expandTabs, safeLine, safeText } from "./safe.ts";
import { type Piece, piece, STYLE } from "./style.ts";

/** Lines shown of a long text, half of them from its end. */
const MAX_LINES = 200;
/** Characters shown of a long line. */
const MAX_LINE = 2_000;

const MARKS: Readonly<Record<ToolStatus, Piece>> = {
  running: { text: "◌", style: STYLE.accent },
  waiting: { text: "?", style: STYLE.warn },
  done: { text: "●", style: STYLE.good },
  failed: { text: "✗", style: STYLE.bad },
  not_run: { text: "⊘", style: STYLE.warn },
  unknown: { text: "○", style: STYLE.dim },
};

export function toolLines(entry: ToolEntry, options: EntryOptions): Piece[][] {
  const { width, isUnfolded } = options;
  const head = ownRow(MARKS[entry.status], wordsOf(entry), width, statusOf(entry));
  return isUnfolded ? [head, ...bodyLines(entry, width)] : [head, ...whyLines(entry, width)];
}

/** The exit code stands in the row already. */
const SAYS_NOTHING = /^(?:\W*|(?:Error: )?Exit code -?\d+)$/;

/** Why it failed, as far as one row of its output tells. */
function whyLines({ status, output = "" }: ToolEntry, width: number): Piece[][] {
  if (status !== "failed") return [];
  const said = output.slice(0, MAX_LINE).replaceAll("<tool_use_error>", "");
  const line = asLines(said).find((one) => !SAYS_NOTHING.test(one.trim()));
  return line === undefined ? [] : [cutBarRow([piece(safeLine(line), STYLE.dim)], width)];
}

/** The row above what a sub-agent says, when others spoke since its call. */
export function agentLabel({ agent = "", title }: ToolEntry, width: number): Piece[] {
  const more = title === agent ? [] : [piece(` ${safeLine(title)}`, STYLE.dim)];
  return ownRow(piece("↳", STYLE.dim), [piece(safeLine(agent), STYLE.accent), ...more], width);
}

function wordsOf({ name, title, agent, changes }: ToolEntry): Piece[] {
  const counts = (changes ?? []).map(({ diff }) => parseDiff(diff ?? ""));
  const added = counts.reduce((sum, diff) => sum + diff.added, 0);
  const removed = counts.reduce((sum, diff) => sum + diff.removed, 0);
  const words = [piece(safeLine(name), STYLE.bold)];
  if (agent !== undefined && agent !== title) words.push(piece(` ${safeLine(agent)}`, STYLE.accent));
  if (added > 0) words.push(piece(` +${added}`, STYLE.added));
  if (removed > 0) words.push(piece(` -${removed}`, STYLE.removed));
  const line = safeLine(title);
  return line === "" ? words : [...words, piece(` ${line}`)];
}

function statusOf(entry: ToolEntry): Piece[] {
  const { status, exit_code } = entry;
  const ms = tookMs(entry);
  const took = ms === undefined ? "" : ` ${durationText(ms)}`;
  const code = exit_code === undefined || exit_code === 0 ? "" : ` exit ${exit_code}`;
  switch (status) {
    case "running":
      return [piece("…", STYLE.accent)];
    case "waiting":
      return [piece("waits for you", STYLE.warn)];
    case "done":
      return [piece(`✓${code}`, STYLE.good), piece(took, STYLE.dim)];
    case "failed":
      return [piece(`✗${code}`, STYLE.bad), piece(took, STYLE.dim)];
    case "not_run":
      return [piece(toolStatusText(entry), STYLE.warn)];
    case "unknown":
      return [piece("no result", STYLE.dim)];
  }
}

function bodyLines({ input, partialInput, changes = [], output }: ToolEntry, width: number): Piece[][] {
  const given = input === undefined ? partialInput : inputOf(input);
  return [
    ...(changes.length === 0 ? textPart("input", given, width) : []),
    ...changes.flatMap((change) => changePart(change, width)),
    ...textPart("output", output, width),
  ];
}

function inputOf(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return JSON.stringify(input);
  return Array.isArray(input)
    ? JSON.stringify(input, undefined, 2)
    : entriesText(input as Record<string, unknown>);
}

/** A label of ours inside of a tool call: it has a mark too, or the text below could go on with one. */
function label(text: string, width: number): Piece[] {
  return ownRow(piece("├", STYLE.dim), [piece(text, STYLE.dim)], width);
}

function textPart(title: string, text: string | undefined, width: number): Piece[][] {
  if (text === undefined || text === "") return [];
  const lines = asLines(text);
  const count = lines.length === 1 ? "" : ` (${lines.length} lines)`;
  return [label(`${title}${count}`, width), ...bounded(lines, width, (line) => longLine(line, width))];
}

/** Colours of a tool's own are left out, and a return to the start of the line begins another: nothing is covered. */
function asLines(text: string): string[] {
  return withoutLastNewlines(text.replace(COLOURS, "").replace(/\r\n?/g, "\n")).split("\n");
}
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");

function longLine(line: string, width: number): Piece[][] {
  return [...barRows([piece(expandTabs(safeText(line.slice(0, MAX_LINE))))], width), ...cutNote(line, width)];
}

function cutNote(line: string, width: number): Piece[][] {
  return line.length <= MAX_LINE ? [] : [label(`… ${line.length - MAX_LINE} more characters`, width)];
}

function changePart({ kind, path, move_path, diff }: FileChange, width: number): Piece[][] {
  const moved = move_path === undefined ? [] : [piece(" → "), piece(safeLine(move_path), STYLE.bold)];
  const head = ownRow(
    piece("├", STYLE.dim),
    [piece(`${changeWord(kind)} `, STYLE.dim), piece(safeLine(path), STYLE.bold), ...moved],
    width,
  );
  if (diff === undefined || diff === "") return [head];
  const parsed = parseDiff(diff);
  const lang = languageOf(path);
  const digits = digitsOf(parsed.lines, width);
  const rowsOf = (line: DiffLine): Piece[][] => [
    ...diffLineRows({ ...line, text: line.text.slice(0, MAX_LINE) }, lang, digits, width - 2).map((row) => [
      TEXT_GUTTER,
      ...row,
    ]),
    ...cutNote(line.text, width),
  ];
  return [head, ...bounded(parsed.lines, width, rowsOf)];
}

function bounded<T>(lines: readonly T[], width: number, rowsOf: (line: T) => Piece[][]): Piece[][] {
  if (lines.length <= MAX_LINES) return lines.flatMap(rowsOf);
  const half = MAX_LINES / 2;
  return [
    ...lines.slice(0, half).flatMap(rowsOf),
    label(`… ${lines.length - MAX_LINES} more lines`, width),
    ...lines.slice(-half).flatMap(rowsOf),
  ];
}
