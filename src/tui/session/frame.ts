// The whole screen of a session as rows of text: header, feed, what waits, composer, hints. Pure; the Ink part only
// puts them on the terminal. It also tells what the keys depend on: how high the feed is, what can be answered.
import type { RequestRow } from "../../client/view/types.ts";
import { helpLines } from "../help.ts";
import { pickerLines } from "../picker/rows.ts";
import { detailRows, requestRows } from "../rows/request-rows.ts";
import { type Line, piece, STYLE } from "../rows/style.ts";
import type { FeedLayout, Row } from "../rows/types.ts";
import { widthOf } from "../rows/wrap.ts";
import type { Look } from "../screen-types.ts";
import { draw, rule } from "../theme.ts";
import { completionLines, hintLines, queueLines, waitingLines } from "./bottom.ts";
import { choicePanel, type Panel, questionPanel } from "./choice-rows.ts";
import { composerBlock } from "./composer-block.ts";
import { headerLines } from "./header.ts";
import { highlighted } from "./highlighted.ts";
import { newEntries, topRow } from "./scroll.ts";
import { askedOf, focused, hasQuestions, requestKey, waiting } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

/** Kept of the feed above a request that has to be scrolled. */
const FEED_ROWS = 3;

export interface FrameOptions {
  feed: FeedLayout;
  look: Look;
  title: string;
  settings: readonly string[];
  context: Pick<UiContext, "commands" | "pickers" | "requestFocus" | "endsWithScreen" | "canGoBack">;
}

export interface Frame {
  rows: string[];
  cursor?: { x: number; y: number };
  /** The request that can be read and answered on this screen. */
  request?: string;
  feedHeight: number;
  editorWidth: number;
  requestScroll: number;
  requestHeight: number;
}

export function sessionFrame(ui: SessionUi, options: FrameOptions): Frame {
  const { look } = options;
  const { columns, rows } = ui.size;
  const put = (line: Line): string => draw(line, columns, look);
  const header = headerLines(ui, { ...options, columns, rows: rows >= 12 ? 2 : 1 }).map(put);
  const most = rows >= 16 ? 2 : 1;
  const hint = rows >= 3 ? hintLines(ui, options.context, { columns, most }).map(put) : [];
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

/** The feed, or what lies over it. */
function middleRows(ui: SessionUi, { feed, look }: FrameOptions, height: number): string[] {
  const { columns } = ui.size;
  if (ui.overlay?.kind === "help") return filled(helpLines(ui.overlay.scroll, columns, height, look), height);
  const top = topRow(ui.feed, feed, height);
  const search = ui.overlay?.kind === "search" ? ui.overlay : undefined;
  const query = search?.editor.text ?? "";
  const rows = feed.slice(top, top + height).map((row, at) => {
    const isFound = search?.row === top + at;
    const mark = isFound ? "»" : row.entry === ui.feed.focus ? "▌" : " ";
    const text = query === "" ? row.ansi : highlighted(row.ansi, query, look);
    return draw([piece(mark, STYLE.accent)], 1, look) + fitted({ ...row, ansi: text }, columns - 1);
  });
  if (rows.length === 0 && ui.view.link.state === "live") {
    rows.push(draw([piece(" nothing has happened yet: write a message below", STYLE.dim)], columns, look));
  }
  const shown = filled(rows, height);
  if (ui.overlay?.kind !== "picker") return shown;
  const over = pickerLines(ui.overlay.picker, columns, Math.max(3, height), look);
  return [...shown.slice(0, Math.max(0, height - over.length)), ...over].slice(-height);
}

function bottomBlock(ui: SessionUi, options: FrameOptions, room: number): Bottom {
  const { look } = options;
  const { columns, rows } = ui.size;
  const hasRule = rows >= 7;
  const row = ui.mode === "chat" ? undefined : focused(ui);
  const head = hasRule ? [draw(modeRule(ui, row), columns, look)] : [];
  if (row !== undefined) return requestBlock(ui, row, options, head, room);
  const extra = rows >= 10 ? [...queueLines(ui, columns), ...completionLines(ui, options.context)] : [];
  const lines = [...extra, ...waitingLines(ui)].map((line) => draw(line, columns, look));
  const left = Math.max(
    1,
    Math.min(room - head.length - lines.length - 1, Math.max(1, Math.floor(rows / 3))),
  );
  const composer = composerBlock(ui, { columns, height: left, look, hasRule });
  const above = [...lines.slice(0, Math.max(0, room - head.length - composer.rows.length)), ...head];
  return {
    rows: [...above, ...composer.rows],
    cursor: { x: composer.cursor.x, y: above.length + composer.cursor.y },
    editorWidth: composer.width,
    requestScroll: 0,
    requestHeight: 0,
  };
}

/** Which mode it is, always in words. */
function modeRule(ui: SessionUi, row: RequestRow | undefined): Line {
  const { columns } = ui.size;
  const rows = waiting(ui);
  const fresh = newEntries(ui);
  const more =
    ui.feed.anchor === undefined ? [] : [piece(fresh > 0 ? `↓ ${fresh} new · End` : "↓ End", STYLE.accent)];
  if (ui.overlay?.kind === "search") return rule([piece("search", STYLE.accent)], more, columns);
  if (row === undefined) {
    const isOff = rows.length > 0;
    return rule([piece(isOff ? "chat (off while a request waits)" : "chat", STYLE.bold)], more, columns);
  }
  const at = rows.findIndex(({ request_id }) => request_id === row.request_id) + 1;
  const details = askedOf(ui, row).isDetailed ? " · details" : "";
  const words = `${ui.mode} · request ${at} of ${rows.length}${details}`;
  return rule([piece(words, `1;${STYLE.warn}`)], more, columns, STYLE.warn);
}

/** What is decided on, perhaps scrolled, and the choices, which are always in sight. */
function requestBlock(
  ui: SessionUi,
  row: RequestRow,
  { look }: FrameOptions,
  head: readonly string[],
  room: number,
): Bottom {
  const { columns, rows } = ui.size;
  const asked = askedOf(ui, row);
  const isAsking = hasQuestions(row);
  const space = room - head.length;
  const draws = asked.isDetailed ? detailRows : requestRows;
  const said = draws(row, columns, look).map((one) => fitted(one, columns));
  const panel: Panel = isAsking
    ? questionPanel(row, asked, columns, look)
    : choicePanel(row, asked, columns, look, Math.max(space - said.length, space >> 1));
  const editorRows = panel.editor === undefined ? 0 : 2;
  const lines = panelRows(panel, Math.max(1, space - editorRows - 1), columns, look);
  const text = [...said, ...(panel.notes ?? []).map((line) => draw(line, columns, look))];
  const free = Math.max(0, space - lines.length - editorRows);
  // The feed yields to a text that would fit without it; to scroll a longer one, a few rows fewer do.
  const feedRows = rows >= 16 && text.length > free ? FEED_ROWS : 0;
  const most = Math.max(0, free - feedRows);
  const limit = isAsking && !asked.isDetailed ? Math.min(3, most) : most;
  // A text that does not fit has a row below that says how much is left.
  const height = text.length <= limit ? text.length : Math.max(0, limit - 1);
  const requestScroll = text.length - height;
  const scroll = Math.min(asked.scroll, requestScroll);
  const body = text.slice(scroll, scroll + height);
  const left = requestScroll - scroll;
  if (requestScroll > 0 && limit > 0) {
    const words =
      left > 0 ? `  … ${left} more ${left === 1 ? "row" : "rows"}: PgDn` : "  end; PgUp scrolls back";
    body.push(draw([piece(words, STYLE.warn)], columns, look));
  }
  const canAnswer = height > 0 && (panel.lines.length <= lines.length || isAsking);
  const above = [...head, ...body, ...lines];
  const editor =
    panel.editor && composerBlock(ui, { columns, height: 1, look, hasRule: true, field: panel.editor });
  return {
    rows: [...above, ...(editor?.rows ?? [])],
    ...(editor && { cursor: { x: editor.cursor.x, y: above.length + editor.cursor.y } }),
    ...(canAnswer ? { request: requestKey(row) } : {}),
    editorWidth: columns - 2,
    requestScroll,
    requestHeight: height,
  };
}

/** The part around the marked line when not all fit. */
function panelRows({ lines, marked = 0 }: Panel, height: number, columns: number, look: Look): string[] {
  const from = Math.max(0, Math.min(marked - Math.floor(height / 2), lines.length - height));
  return lines.slice(from, from + height).map((line) => draw(line, columns, look));
}

function filled(rows: readonly string[], height: number): string[] {
  return [...rows.slice(0, height), ...Array.from({ length: Math.max(0, height - rows.length) }, () => "")];
}

/** On screens narrower than rows can be, the plain text is cut. */
function fitted({ text, ansi }: Row, columns: number): string {
  return widthOf(text) <= columns ? ansi : draw([piece(text)], columns, { hasColour: false, isAscii: false });
}
