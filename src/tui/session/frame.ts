// Lays out the session screen as rows: header, feed, requests, composer, hints. Pure. Also returns the geometry that keys
// depend on: the height of the feed and which request can be answered.

import { measureWidth } from "../../base/width.ts";
import type { RequestRow } from "../../client/view/types.ts";
import { drawHelp } from "../help.ts";
import type { Frame } from "../paint.ts";
import { drawPicker } from "../picker/rows.ts";
import { drawRequest, drawRequestDetails } from "../rows/request-rows.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import type { FeedLayout, Row } from "../rows/types.ts";
import type { Look } from "../screen-types.ts";
import { drawLine, drawRule } from "../theme.ts";
import { drawCompletions, drawHintLines, drawWaiting, queueLines } from "./bottom.ts";
import { drawChoicePanel, drawQuestionPanel, type Panel } from "./choice-rows.ts";
import { drawComposer } from "./composer-block.ts";
import { drawSessionHeader } from "./header.ts";
import { highlightMatches } from "./highlight-matches.ts";
import { countNewEntries, findTopRow } from "./scroll.ts";
import { getAsked, getFocused, getWaiting, hasQuestions, makeRequestKey } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

/** Feed rows kept above a request that scrolls. */
const FEED_ROWS = 3;

export interface SessionFrameOptions {
  feed: FeedLayout;
  look: Look;
  title: string;
  settings: readonly string[];
  context: Pick<
    UiContext,
    "commands" | "pickers" | "requestFocus" | "endsWithScreen" | "canGoBack" | "hasChanges"
  >;
}

export interface SessionFrame extends Frame {
  /** The request that is visible and can be answered. */
  request?: string;
  feedHeight: number;
  editorWidth: number;
  requestScroll: number;
  requestHeight: number;
}

export function drawSessionFrame(ui: SessionUi, options: SessionFrameOptions): SessionFrame {
  const { look } = options;
  const { columns, rows } = ui.size;
  const put = (line: Line): string => drawLine(line, columns, look);
  const header = drawSessionHeader(ui, { ...options, columns, rows: rows >= 12 ? 2 : 1 }).map(put);
  const most = rows >= 16 ? 2 : 1;
  const hint = rows >= 3 ? drawHintLines(ui, options.context, { columns, most }).map(put) : [];
  const room = Math.max(0, rows - header.length - hint.length);
  const bottom = bottomBlock(ui, options, room);
  const height = Math.max(0, room - bottom.rows.length);
  const middle = middleRows(ui, options, height);
  const cursor = bottom.cursor && { x: bottom.cursor.x, y: header.length + height + bottom.cursor.y };
  return {
    rows: [...header, ...middle, ...bottom.rows, ...hint].slice(0, rows),
    ...(cursor && cursor.y < rows ? { cursor } : {}),
    ...(bottom.request === undefined || ui.overlay !== undefined ? {} : { request: bottom.request }),
    feedHeight: height,
    editorWidth: bottom.editorWidth,
    requestScroll: bottom.requestScroll,
    requestHeight: bottom.requestHeight,
  };
}

interface Bottom {
  rows: string[];
  cursor?: { x: number; y: number };
  request?: string;
  editorWidth: number;
  requestScroll: number;
  requestHeight: number;
}

/** The feed, or the overlay. */
function middleRows(ui: SessionUi, { feed, look }: SessionFrameOptions, height: number): string[] {
  const { columns } = ui.size;
  if (ui.overlay?.kind === "help") return padRows(drawHelp(ui.overlay.scroll, columns, height, look), height);
  const top = findTopRow(ui.feed, feed, height);
  const search = ui.overlay?.kind === "search" ? ui.overlay : undefined;
  const query = search?.editor.text ?? "";
  const rows = feed.slice(top, top + height).map((row, at) => {
    const isFound = search?.row === top + at;
    const mark = isFound ? "»" : row.entry === ui.feed.focus ? "▌" : " ";
    const text = query === "" ? row.ansi : highlightMatches(row.ansi, query, look);
    return drawLine([createPiece(mark, STYLE.accent)], 1, look) + fitRow({ ...row, ansi: text }, columns - 1);
  });
  if (rows.length === 0 && ui.view.link.state === "live") {
    rows.push(drawLine([createPiece(" No events yet. Type a message below.", STYLE.dim)], columns, look));
  }
  const shown = padRows(rows, height);
  if (ui.overlay?.kind !== "picker") return shown;
  const over = drawPicker(ui.overlay.picker, columns, Math.max(3, height), look);
  return [...shown.slice(0, Math.max(0, height - over.length)), ...over].slice(-height);
}

function bottomBlock(ui: SessionUi, options: SessionFrameOptions, room: number): Bottom {
  const { look } = options;
  const { columns, rows } = ui.size;
  const hasRule = rows >= 7;
  const row = ui.mode === "chat" ? undefined : getFocused(ui);
  const head = hasRule ? [drawLine(modeRule(ui, row), columns, look)] : [];
  if (row !== undefined) return requestBlock(ui, row, options, head, room);
  const extra = rows >= 10 ? [...queueLines(ui, columns), ...drawCompletions(ui, options.context)] : [];
  const lines = [...extra, ...drawWaiting(ui)].map((line) => drawLine(line, columns, look));
  const left = Math.max(
    1,
    Math.min(room - head.length - lines.length - 1, Math.max(1, Math.floor(rows / 3))),
  );
  const composer = drawComposer(ui, { columns, height: left, look, hasRule });
  const above = [...lines.slice(0, Math.max(0, room - head.length - composer.rows.length)), ...head];
  return {
    rows: [...above, ...composer.rows],
    cursor: { x: composer.cursor.x, y: above.length + composer.cursor.y },
    editorWidth: composer.width,
    requestScroll: 0,
    requestHeight: 0,
  };
}

/** The rule that names the mode. */
function modeRule(ui: SessionUi, row: RequestRow | undefined): Line {
  const { columns } = ui.size;
  const rows = getWaiting(ui);
  const fresh = countNewEntries(ui);
  const more =
    ui.feed.anchor === undefined
      ? []
      : [createPiece(fresh > 0 ? `↓ ${fresh} new · End` : "↓ End", STYLE.accent)];
  if (ui.overlay?.kind === "search") return drawRule([createPiece("search", STYLE.accent)], more, columns);
  if (row === undefined) {
    const isOff = rows.length > 0;
    return drawRule(
      [createPiece(isOff ? "chat (disabled while a request is pending)" : "chat", STYLE.bold)],
      more,
      columns,
    );
  }
  const at = rows.findIndex(({ request_id }) => request_id === row.request_id) + 1;
  const details = getAsked(ui, row).isDetailed ? " · details" : "";
  const words = `${ui.mode} · request ${at} of ${rows.length}${details}`;
  return drawRule([createPiece(words, `1;${STYLE.warn}`)], more, columns, STYLE.warn);
}

/** The request, scrolled if needed, and the choices, which are always visible. */
function requestBlock(
  ui: SessionUi,
  row: RequestRow,
  { look }: SessionFrameOptions,
  head: readonly string[],
  room: number,
): Bottom {
  const { columns, rows } = ui.size;
  const asked = getAsked(ui, row);
  const isAsking = hasQuestions(row);
  const space = room - head.length;
  const draws = asked.isDetailed ? drawRequestDetails : drawRequest;
  const said = draws(row, columns, look).map((one) => fitRow(one, columns));
  const panel: Panel = isAsking
    ? drawQuestionPanel(row, asked, columns, look)
    : drawChoicePanel(row, asked, columns, look, Math.max(space - said.length, space >> 1));
  const editorRows = panel.editor === undefined ? 0 : 2;
  const lines = panelRows(panel, Math.max(1, space - editorRows - 1), columns, look);
  const text = [...said, ...(panel.notes ?? []).map((line) => drawLine(line, columns, look))];
  const free = Math.max(0, space - lines.length - editorRows);
  // The feed gives way to a request that fits without it; a longer one scrolls below a few feed rows.
  const feedRows = rows >= 16 && text.length > free ? FEED_ROWS : 0;
  const most = Math.max(0, free - feedRows);
  const limit = isAsking && !asked.isDetailed ? Math.min(3, most) : most;
  // Text that does not fit gets a row with the number of remaining rows.
  const height = text.length <= limit ? text.length : Math.max(0, limit - 1);
  const requestScroll = text.length - height;
  const scroll = Math.min(asked.scroll, requestScroll);
  const body = text.slice(scroll, scroll + height);
  const left = requestScroll - scroll;
  if (requestScroll > 0 && limit > 0) {
    const words =
      left > 0 ? `  … ${left} more ${left === 1 ? "row" : "rows"}: PgDn` : "  end; PgUp scrolls back";
    body.push(drawLine([createPiece(words, STYLE.warn)], columns, look));
  }
  const canAnswer = height > 0 && (panel.lines.length <= lines.length || isAsking);
  const above = [...head, ...body, ...lines];
  const editor =
    panel.editor && drawComposer(ui, { columns, height: 1, look, hasRule: true, field: panel.editor });
  return {
    rows: [...above, ...(editor?.rows ?? [])],
    ...(editor && { cursor: { x: editor.cursor.x, y: above.length + editor.cursor.y } }),
    ...(canAnswer ? { request: makeRequestKey(row) } : {}),
    editorWidth: columns - 2,
    requestScroll,
    requestHeight: height,
  };
}

/** The lines around the selected one, if not all fit. */
function panelRows({ lines, marked = 0 }: Panel, height: number, columns: number, look: Look): string[] {
  const from = Math.max(0, Math.min(marked - Math.floor(height / 2), lines.length - height));
  return lines.slice(from, from + height).map((line) => drawLine(line, columns, look));
}

function padRows(rows: readonly string[], height: number): string[] {
  return [...rows.slice(0, height), ...Array.from({ length: Math.max(0, height - rows.length) }, () => "")];
}

/** Cuts the plain text on screens narrower than the minimum row width. */
function fitRow({ text, ansi }: Row, columns: number): string {
  return measureWidth(text) <= columns
    ? ansi
    : drawLine([createPiece(text)], columns, { hasColor: false, isAscii: false });
}
