// Changes of a session's view as lines, for `sm tail -f` and `blemees wire`. Pure. The agent's text has a bar and its
// actions are cut to one row, so that nothing it writes can imitate our own output or a request.
import { sanitize, sanitizeLine } from "../base/sanitize.ts";
import {
  computeWorkedMs,
  formatCost,
  formatNotice,
  formatTool,
  formatToolStatus,
} from "../client/view/format.ts";
import type { Entry, NoticeEntry, RequestEntry, ResultEntry, ToolEntry } from "../client/view/types.ts";
import type { EntryChange } from "../client/view.ts";
import { drawBarLines, truncate } from "./bar.ts";
import type { Style } from "./output.ts";
import { createBlemeesWords, formatRequest, makeHint, type RequestWords } from "./request-text.ts";

export interface EntryLine {
  text: string;
  style?: Style;
}

type Lines<K extends Entry["kind"]> = (
  entry: Extract<Entry, { kind: K }>,
  before: Extract<Entry, { kind: K }> | undefined,
  columns: number,
  words: RequestWords,
) => EntryLine[];

const LINES: { [K in Entry["kind"]]: Lines<K> } = {
  text: (entry, before, columns) => {
    const isShown = before !== undefined && !before.isOpen && before.text === entry.text;
    return entry.isOpen || isShown ? [] : textLines(entry.text, columns);
  },
  thinking: () => [],
  user: ({ text }, before, columns) => (before === undefined ? [oneLine(`> ${text}`, columns, "bold")] : []),
  tool: toolLines,
  request: askLines,
  notice: (entry, before, columns) => (before?.text === entry.text ? [] : [noticeLine(entry, columns)]),
  result: (entry, before, columns) => (before === undefined ? [resultLine(entry, columns)] : []),
  // Reported by the stream itself.
  gap: () => [],
};

/** Deeper rows are not indented further. */
const MAX_INDENTS = 4;

export function formatEntry(
  { entry, before }: EntryChange,
  columns: number,
  words: RequestWords = createBlemeesWords("sm"),
): EntryLine[] {
  // Sub-agents are indented.
  const indent = "  ".repeat(Math.min(entry.depth, MAX_INDENTS));
  const lines = LINES[entry.kind] as Lines<Entry["kind"]>;
  return lines(entry, before, columns - indent.length, words).map((line) => ({
    ...line,
    text: `${indent}${line.text}`,
  }));
}

function toolLines(tool: ToolEntry, before: ToolEntry | undefined, columns: number): EntryLine[] {
  const isNew = isKnown(tool) && (before === undefined || !isKnown(before));
  return [
    ...(isNew ? [oneLine(`⚙ ${formatTool(tool)}`, columns, "cyan")] : []),
    ...(isOver(tool) && (before === undefined || !isOver(before)) ? endLines(tool, columns) : []),
  ];
}

/** Some agents announce a call before its input. */
function isKnown({ input, status, title }: ToolEntry): boolean {
  return title !== "" || (input !== undefined && status !== "running");
}

function isOver({ status }: ToolEntry): boolean {
  return status === "done" || status === "failed" || status === "not_run";
}

function endLines(tool: ToolEntry, columns: number): EntryLine[] {
  const { status, output = "" } = tool;
  if (status === "not_run") return [oneLine(`  ↳ ${formatToolStatus(tool)}`, columns, "yellow")];
  const text = short(output);
  const hasFailed = status === "failed";
  if (!hasFailed && text === "") return [];
  return [oneLine(`  ↳ ${hasFailed ? "failed: " : ""}${text}`, columns, hasFailed ? "red" : "dim")];
}

function askLines(
  { request }: RequestEntry,
  before: RequestEntry | undefined,
  columns: number,
  words: RequestWords,
): EntryLine[] {
  const { request_id, status } = request;
  if (status !== "pending") {
    const isShown = before?.request.status === status;
    return isShown ? [] : [oneLine(`· request ${request_id}: ${status}`, columns, "dim")];
  }
  // A changed request is shown again.
  if (before?.request.status === "pending" && before.request.shown_hash === request.shown_hash) return [];
  return formatRequest(request, makeHint(request, words), columns, { words }).map((text) => ({
    text,
    style: "yellow" as const,
  }));
}

function noticeLine(entry: NoticeEntry, columns: number): EntryLine {
  const sign = entry.category === "blemeesd.error" ? "✗" : "·";
  return oneLine(`${sign} ${formatNotice(entry)}`, columns, entry.level === "error" ? "red" : "dim");
}

function resultLine(entry: ResultEntry, columns: number): EntryLine {
  const { subtype, usage, cost_usd, error } = entry;
  const worked = computeWorkedMs(entry);
  if (subtype !== "success")
    return oneLine(`✗ ${subtype}${error === undefined ? "" : `: ${error}`}`, columns, "red");
  const facts = [
    ...(worked === undefined ? [] : [`${(worked / 1000).toFixed(1)} s`]),
    ...(usage === undefined ? [] : [`${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`]),
    ...(cost_usd === undefined ? [] : [formatCost(cost_usd)]),
  ];
  return oneLine(`✓ done${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`, columns, "green");
}

function textLines(text: string, columns: number): EntryLine[] {
  return text.trim() === "" ? [] : drawBarLines(sanitize(text), columns).map((row) => ({ text: row }));
}

/** One row that does not reach the edge of the screen. */
function oneLine(text: string, columns: number, style: Style): EntryLine {
  return { text: truncate(sanitizeLine(text).trimEnd(), Math.max(20, columns - 2)), style };
}

const MAX_DETAIL = 400;

function short(value: string): string {
  const text = value.replace(/\s+/g, " ").trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
