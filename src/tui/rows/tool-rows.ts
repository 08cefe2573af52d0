// A tool call as lines: one row with its title and outcome; unfolded, also its input, changes and output. Long text is shown
// at both ends, with the number of lines between.
import { type DiffLine, parseDiff } from "../../client/view/diff.ts";
import { computeTookMs, formatDuration, formatToolStatus } from "../../client/view/format.ts";
import { findLanguage } from "../../client/view/highlight.ts";
import { trimLastNewlines } from "../../client/view/lines.ts";
import { formatEntries } from "../../client/view/request-input.ts";
import type { FileChange, ToolEntry, ToolStatus } from "../../client/view/types.ts";
import { getChangeLabel } from "../../protocol/change-labels.ts";
import { colorLines } from "./code-rows.ts";
import type { EntryOptions } from "./entry-rows.ts";
import { cutBarRow, drawBarRows, drawOwnRow, TEXT_GUTTER } from "./gutter.ts";
import { expandTabs, toSafeLine, toSafeText } from "./safe.ts";
import { createPiece, type Piece, STYLE } from "./style.ts";
import { wrapHard } from "./wrap.ts";

/** Lines shown of long text, half of them from its end. */
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

export function drawTool(entry: ToolEntry, options: EntryOptions): Piece[][] {
  const { width, isUnfolded } = options;
  const head = drawOwnRow(MARKS[entry.status], describeTool(entry), width, describeStatus(entry));
  return isUnfolded ? [head, ...bodyLines(entry, width)] : [head, ...whyLines(entry, width)];
}

/** The exit code is already in the row. */
const SAYS_NOTHING = /^(?:\W*|(?:Error: )?Exit code -?\d+)$/;

/** The first useful line of a failed tool's output. */
function whyLines({ status, output = "" }: ToolEntry, width: number): Piece[][] {
  if (status !== "failed") return [];
  const said = output.slice(0, MAX_LINE).replaceAll("<tool_use_error>", "");
  const line = asLines(said).find((one) => !SAYS_NOTHING.test(one.trim()));
  return line === undefined ? [] : [cutBarRow([createPiece(toSafeLine(line), STYLE.dim)], width)];
}

/** The row above a sub-agent's entries, if others came in between. */
export function drawAgentLabel({ agent = "", title }: ToolEntry, width: number): Piece[] {
  const more = title === agent ? [] : [createPiece(` ${toSafeLine(title)}`, STYLE.dim)];
  return drawOwnRow(
    createPiece("↳", STYLE.dim),
    [createPiece(toSafeLine(agent), STYLE.accent), ...more],
    width,
  );
}

function describeTool({ name, title, agent, changes }: ToolEntry): Piece[] {
  const counts = (changes ?? []).map(({ diff }) => parseDiff(diff ?? ""));
  const added = counts.reduce((sum, diff) => sum + diff.added, 0);
  const removed = counts.reduce((sum, diff) => sum + diff.removed, 0);
  const words = [createPiece(toSafeLine(name), STYLE.bold)];
  if (agent !== undefined && agent !== title) words.push(createPiece(` ${toSafeLine(agent)}`, STYLE.accent));
  if (added > 0) words.push(createPiece(` +${added}`, STYLE.added));
  if (removed > 0) words.push(createPiece(` -${removed}`, STYLE.removed));
  const line = toSafeLine(title);
  return line === "" ? words : [...words, createPiece(` ${line}`)];
}

function describeStatus(entry: ToolEntry): Piece[] {
  const { status, exit_code } = entry;
  const ms = computeTookMs(entry);
  const took = ms === undefined ? "" : ` ${formatDuration(ms)}`;
  const code = exit_code === undefined || exit_code === 0 ? "" : ` exit ${exit_code}`;
  switch (status) {
    case "running":
      return [createPiece("…", STYLE.accent)];
    case "waiting":
      return [createPiece("waiting for you", STYLE.warn)];
    case "done":
      return [createPiece(`✓${code}`, STYLE.good), createPiece(took, STYLE.dim)];
    case "failed":
      return [createPiece(`✗${code}`, STYLE.bad), createPiece(took, STYLE.dim)];
    case "not_run":
      return [createPiece(formatToolStatus(entry), STYLE.warn)];
    case "unknown":
      return [createPiece("no result", STYLE.dim)];
  }
}

function bodyLines({ input, partialInput, changes = [], output }: ToolEntry, width: number): Piece[][] {
  const given = input === undefined ? partialInput : formatInput(input);
  return [
    ...(changes.length === 0 ? textPart("input", given, width) : []),
    ...changes.flatMap((change) => changePart(change, width)),
    ...textPart("output", output, width),
  ];
}

function formatInput(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return JSON.stringify(input);
  return Array.isArray(input)
    ? JSON.stringify(input, undefined, 2)
    : formatEntries(input as Record<string, unknown>);
}

/** Our own label inside a tool call; marked, so that output cannot imitate it. */
function label(text: string, width: number): Piece[] {
  return drawOwnRow(createPiece("├", STYLE.dim), [createPiece(text, STYLE.dim)], width);
}

function textPart(title: string, text: string | undefined, width: number): Piece[][] {
  if (text === undefined || text === "") return [];
  const lines = asLines(text);
  const count = lines.length === 1 ? "" : ` (${lines.length} lines)`;
  return [label(`${title}${count}`, width), ...toBoundedRows(lines, width, (line) => longLine(line, width))];
}

/** Removes a tool's own colors; a carriage return starts a new line, so that nothing is overwritten. */
function asLines(text: string): string[] {
  return trimLastNewlines(text.replace(COLORS, "").replace(/\r\n?/g, "\n")).split("\n");
}
const COLORS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");

function longLine(line: string, width: number): Piece[][] {
  return [
    ...drawBarRows([createPiece(expandTabs(toSafeText(line.slice(0, MAX_LINE))))], width),
    ...cutNote(line, width),
  ];
}

function cutNote(line: string, width: number): Piece[][] {
  return line.length <= MAX_LINE ? [] : [label(`… ${line.length - MAX_LINE} more characters`, width)];
}

function changePart(change: FileChange, width: number): Piece[][] {
  const { path, move_path, diff } = change;
  const moved =
    move_path === undefined ? [] : [createPiece(" → "), createPiece(toSafeLine(move_path), STYLE.bold)];
  const head = drawOwnRow(
    createPiece("├", STYLE.dim),
    [
      createPiece(`${getChangeLabel(change)} `, STYLE.dim),
      createPiece(toSafeLine(path), STYLE.bold),
      ...moved,
    ],
    width,
  );
  if (diff === undefined || diff === "") return [head];
  const parsed = parseDiff(diff);
  const lang = findLanguage(path);
  const digits = countDigits(parsed.lines, width);
  const toRows = (line: DiffLine): Piece[][] => [
    ...drawDiffLine({ ...line, text: line.text.slice(0, MAX_LINE) }, lang, digits, width - 2).map((row) => [
      TEXT_GUTTER,
      ...row,
    ]),
    ...cutNote(line.text, width),
  ];
  return [head, ...toBoundedRows(parsed.lines, width, toRows)];
}

function toBoundedRows<T>(lines: readonly T[], width: number, toRows: (line: T) => Piece[][]): Piece[][] {
  if (lines.length <= MAX_LINES) return lines.flatMap(toRows);
  const half = MAX_LINES / 2;
  return [
    ...lines.slice(0, half).flatMap(toRows),
    label(`… ${lines.length - MAX_LINES} more lines`, width),
    ...lines.slice(-half).flatMap(toRows),
  ];
}

const SIGNS = { same: " ", add: "+", remove: "-" } as const;
const LOOKS = { same: STYLE.none, add: STYLE.added, remove: STYLE.removed } as const;

/** The width of the line numbers; 0 if there is no room for them. */
function countDigits(lines: readonly DiffLine[], width: number): number {
  const highest = lines.reduce((max, line) => Math.max(max, line.old ?? 0, line.new ?? 0), 0);
  return highest === 0 || width < 40 ? 0 : String(highest).length;
}

function drawDiffLine(line: DiffLine, lang: string, digits: number, width: number): Piece[][] {
  if (line.kind === "hunk" || line.kind === "meta") {
    const style = line.kind === "hunk" ? STYLE.hunk : STYLE.dim;
    return wrapHard([createPiece(expandTabs(toSafeText(line.text)), style)], width);
  }
  const look = LOOKS[line.kind];
  const number = line.kind === "remove" ? line.old : line.new;
  const gutter = digits === 0 ? "" : `${String(number ?? "").padStart(digits)} `;
  const head = [createPiece(gutter, STYLE.dim), createPiece(`${SIGNS[line.kind]} `, look)];
  const rest = [createPiece(" ".repeat(gutter.length), STYLE.dim), createPiece("  ")];
  const text =
    line.kind === "same"
      ? (colorLines(line.text, lang)[0] ?? [])
      : [createPiece(expandTabs(toSafeText(line.text)), look)];
  return wrapHard(text, width - gutter.length - 2).map((row, at) => [...(at === 0 ? head : rest), ...row]);
}
