// One feed entry as rows: message, thinking, tool call, request, notice, result.

import {
  computeWorkedMs,
  formatCost,
  formatDuration,
  formatNoticeRow,
  formatTokens,
} from "../../client/view/format.ts";
import { trimLastNewlines } from "../../client/view/lines.ts";
import type { Entry, NoticeEntry, ResultEntry, ThinkingEntry, UserEntry } from "../../client/view/types.ts";
import { TextLayout } from "./growing.ts";
import { drawDepth, drawOwnRow, drawProse, PERSON_GUTTER, TEXT_GUTTER } from "./gutter.ts";
import { drawRequestEntry } from "./request-rows.ts";
import { toSafeLine, toSafeText } from "./safe.ts";
import { createPiece, type Line, type Piece, STYLE, toRow } from "./style.ts";
import { drawTool } from "./tool-rows.ts";
import type { Row, RowTheme } from "./types.ts";

export interface EntryOptions {
  width: number;
  theme: RowTheme;
  isUnfolded: boolean;
}

/** Layout state of a growing entry. */
export interface Growing {
  readonly made: string;
  text?: TextLayout;
}

export const MIN_WIDTH = 8;
const BRIEF_MS = 100;

export function drawEntry(entry: Entry, options: EntryOptions, growing: Growing): readonly Row[] {
  const width = Math.max(MIN_WIDTH, options.width);
  const prefix = drawDepth(entry.depth, width);
  const inner = { ...options, width: width - (prefix[0]?.text.length ?? 0) };
  const shown = (line: Line): Line => (entry.isUndone === true ? line.map(fade) : line);
  const finish = (line: Line): Row => toRow([...prefix, ...shown(line)], entry.id, options.theme);
  if (entry.kind === "text") {
    growing.text ??= new TextLayout({ ...inner, finish, isMarkdown: true });
    return growing.text.rows(entry.text, !entry.isOpen);
  }
  if (entry.kind === "thinking") return thinkingRows(entry, inner, finish, growing);
  return toLines(entry, inner).map(finish);
}

function toLines(entry: Exclude<Entry, { kind: "text" | "thinking" }>, options: EntryOptions): Piece[][] {
  switch (entry.kind) {
    case "user":
      return userLines(entry, options.width);
    case "tool":
      return drawTool(entry, options);
    case "request":
      return drawRequestEntry(entry.request, options);
    case "notice":
      return noticeLines(entry, options.width);
    case "result":
      return resultLines(entry, options.width);
    case "gap":
      return markedProse(createPiece("⋮", STYLE.warn), entry.text, STYLE.dim, options.width);
  }
}

/** Of a turn that was undone. */
function fade({ text }: Piece): Piece {
  return createPiece(text, STYLE.dim);
}

function userLines({ text, attachments = 0, from, isUndone }: UserEntry, width: number): Piece[][] {
  const mark = createPiece("»", STYLE.person);
  const undone = isUndone === true ? [drawOwnRow(mark, [createPiece("undone", STYLE.dim)], width)] : [];
  const sender =
    from === undefined
      ? []
      : [
          drawOwnRow(
            mark,
            [createPiece("from the session ", STYLE.dim), createPiece(toSafeLine(from))],
            width,
          ),
        ];
  const more =
    attachments === 0
      ? []
      : [
          drawOwnRow(
            mark,
            [createPiece(`${attachments} ${attachments === 1 ? "attachment" : "attachments"}`)],
            width,
          ),
        ];
  const said = text === "" && attachments > 0 ? [] : textLines(text, PERSON_GUTTER, STYLE.bold, width);
  return [...undone, ...sender, ...said, ...more];
}

/** Plain text, wrapped at words. */
function textLines(text: string, gutter: Piece, style: string, width: number): Piece[][] {
  return trimLastNewlines(toSafeText(text))
    .split("\n")
    .flatMap((line) => drawProse([createPiece(line.replaceAll("\t", "    "), style)], gutter, width));
}

function thinkingRows(
  entry: ThinkingEntry,
  options: EntryOptions,
  finish: (line: Line) => Row,
  growing: Growing,
): Row[] {
  const { text, isOpen, at_ms, ended_at_ms } = entry;
  const took = at_ms === undefined || ended_at_ms === undefined ? undefined : ended_at_ms - at_ms;
  // Agents that send a thought only when complete have no duration.
  const isBrief = took === undefined || took < BRIEF_MS;
  const head = isOpen ? "thinking…" : isBrief ? "thought" : `thought for ${formatDuration(took)}`;
  const first = options.isUnfolded
    ? ""
    : toSafeLine(text.slice(0, 2 * options.width).split("\n\n")[0] ?? "").replaceAll("**", "");
  const words = [
    createPiece(head, STYLE.dim),
    ...(first === "" ? [] : [createPiece(`  ${first}`, STYLE.dim)]),
  ];
  const top = finish(drawOwnRow(createPiece("∴", STYLE.dim), words, options.width));
  if (!options.isUnfolded || text.trim() === "") return [top];
  growing.text ??= new TextLayout({ ...options, finish, isMarkdown: false, style: STYLE.dim });
  return [top, ...growing.text.rows(text, !isOpen)];
}

const NOTICE_MARKS = {
  info: { text: "·", style: STYLE.dim },
  warn: { text: "!", style: STYLE.warn },
  error: { text: "✗", style: STYLE.bad },
} as const;

function noticeLines(entry: NoticeEntry, width: number): Piece[][] {
  const { level } = entry;
  const style = level === "info" ? STYLE.dim : NOTICE_MARKS[level].style;
  return markedProse(NOTICE_MARKS[level], formatNoticeRow(entry), style, width);
}

/** Untrusted text with our mark on the first row. */
function markedProse(mark: Piece, text: string, style: string, width: number): Piece[][] {
  const rows = textLines(text, TEXT_GUTTER, style, width);
  return rows.map((row, at) =>
    at === 0 ? [createPiece(`${mark.text} `, mark.style), ...row.slice(1)] : row,
  );
}

function resultLines(entry: ResultEntry, width: number): Piece[][] {
  const { subtype, usage, cost_usd, error } = entry;
  const worked = computeWorkedMs(entry);
  const isGood = subtype === "success";
  const isStopped = subtype === "interrupted";
  const mark = isGood
    ? createPiece("✓", STYLE.good)
    : createPiece(isStopped ? "○" : "✗", isStopped ? STYLE.warn : STYLE.bad);
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  const facts = [
    isGood ? "done" : toSafeLine(subtype).replaceAll("_", " "),
    ...(worked === undefined ? [] : [formatDuration(worked)]),
    ...(tokens === 0 ? [] : [`${formatTokens(tokens)} tokens`]),
    ...(cost_usd === undefined || cost_usd === 0 ? [] : [formatCost(cost_usd)]),
  ];
  const head = drawOwnRow(mark, [createPiece(facts.join(" · "), STYLE.dim)], width);
  return error === undefined ? [head] : [head, ...textLines(error, TEXT_GUTTER, STYLE.bad, width)];
}
