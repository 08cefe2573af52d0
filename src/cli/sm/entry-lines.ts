// What is new in a session's view as lines for `sm tail -f`. Pure. What the agent says stands behind a bar and what it
// does is cut to the screen, so that nothing it writes can pass for our own words or for a request.
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { Entry, NoticeEntry, RequestEntry, ResultEntry, ToolEntry } from "../../client/view/types.ts";
import { noticeText, toolStatusText, toolText, workedMs } from "../../client/view/words.ts";
import type { EntryChange } from "../../client/view.ts";
import { behindBar, cutTo } from "../bar.ts";
import type { Style } from "../output.ts";
import { requestLines } from "../request-text.ts";
import { hintFor, SM_WORDS } from "./request-words.ts";

export interface Line {
  text: string;
  style?: Style;
}

/** `columns`: how many there are for it. */
type Lines<K extends Entry["kind"]> = (
  entry: Extract<Entry, { kind: K }>,
  before: Extract<Entry, { kind: K }> | undefined,
  columns: number,
) => Line[];

const LINES: { [K in Entry["kind"]]: Lines<K> } = {
  text: (entry, before, columns) => {
    const isTold = before !== undefined && !before.isOpen && before.text === entry.text;
    return entry.isOpen || isTold ? [] : said(entry.text, columns);
  },
  thinking: () => [],
  user: ({ text }, before, columns) => (before === undefined ? [one(`> ${text}`, columns, "bold")] : []),
  tool: toolLines,
  request: askLines,
  notice: (entry, before, columns) => (before?.text === entry.text ? [] : [noticeLine(entry, columns)]),
  result: (entry, before, columns) => (before === undefined ? [resultLine(entry, columns)] : []),
  // Told by what the stream says of itself.
  gap: () => [],
};

/** So deep the rows move to the right; there must be room for words. */
const MAX_INDENTS = 4;

export function entryLines({ entry, before }: EntryChange, columns: number): Line[] {
  // What a sub-agent does is told, further in.
  const indent = "  ".repeat(Math.min(entry.depth, MAX_INDENTS));
  const lines = LINES[entry.kind] as Lines<Entry["kind"]>;
  return lines(entry, before, columns - indent.length).map((line) => ({
    ...line,
    text: `${indent}${line.text}`,
  }));
}

function toolLines(tool: ToolEntry, before: ToolEntry | undefined, columns: number): Line[] {
  const isNew = isKnown(tool) && (before === undefined || !isKnown(before));
  return [
    ...(isNew ? [one(`⚙ ${toolText(tool)}`, columns, "cyan")] : []),
    ...(isOver(tool) && (before === undefined || !isOver(before)) ? endLines(tool, columns) : []),
  ];
}

/** Some agents tell of a call before they have written what it is about. */
function isKnown({ input, status, title }: ToolEntry): boolean {
  return title !== "" || (input !== undefined && status !== "running");
}

function isOver({ status }: ToolEntry): boolean {
  return status === "done" || status === "failed" || status === "not_run";
}

function endLines(tool: ToolEntry, columns: number): Line[] {
  const { status, output = "" } = tool;
  if (status === "not_run") return [one(`  ↳ ${toolStatusText(tool)}`, columns, "yellow")];
  const text = short(output);
  const hasFailed = status === "failed";
  if (!hasFailed && text === "") return [];
  return [one(`  ↳ ${hasFailed ? "failed: " : ""}${text}`, columns, hasFailed ? "red" : "dim")];
}

function askLines({ request }: RequestEntry, before: RequestEntry | undefined, columns: number): Line[] {
  const { request_id, status } = request;
  if (status !== "pending") {
    const isTold = before?.request.status === status;
    return isTold ? [] : [one(`· request ${request_id}: ${status}`, columns, "dim")];
  }
  // Another one by the same id is to be looked at anew.
  if (before?.request.status === "pending" && before.request.shown_hash === request.shown_hash) return [];
  return requestLines(request, hintFor(request), columns, { words: SM_WORDS }).map((text) => ({
    text,
    style: "yellow" as const,
  }));
}

function noticeLine(entry: NoticeEntry, columns: number): Line {
  const sign = entry.category === "blemeesd.error" ? "✗" : "·";
  return one(`${sign} ${noticeText(entry)}`, columns, entry.level === "error" ? "red" : "dim");
}

function resultLine(entry: ResultEntry, columns: number): Line {
  const { subtype, usage, cost_usd, error } = entry;
  const worked = workedMs(entry);
  if (subtype !== "success")
    return one(`✗ ${subtype}${error === undefined ? "" : `: ${error}`}`, columns, "red");
  const facts = [
    ...(worked === undefined ? [] : [`${(worked / 1000).toFixed(1)} s`]),
    ...(usage === undefined ? [] : [`${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`]),
    ...(cost_usd === undefined ? [] : [`$${cost_usd.toFixed(2)}`]),
  ];
  return one(`✓ done${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`, columns, "green");
}

function said(text: string, columns: number): Line[] {
  return text.trim() === "" ? [] : behindBar(sanitize(text), columns).map((row) => ({ text: row }));
}

/** One row of the screen, whatever it is; no row reaches its edge. */
function one(text: string, columns: number, style: Style): Line {
  return { text: cutTo(sanitizeLine(text).trimEnd(), Math.max(20, columns - 2)), style };
}

const MAX_DETAIL = 400;

function short(value: string): string {
  const text = value.replace(/\s+/g, " ").trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
