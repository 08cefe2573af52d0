// Lays out the session screen as rows: header, feed, requests, composer, hints. Pure. Also returns the geometry that keys
// depend on: the height of the feed and which request can be answered.

import { measureWidth } from "../../base/width.ts";
import { describeActivity } from "../../client/view/activity.ts";
import { toRequestCard } from "../../client/view/request-card.ts";
import type { RequestRow } from "../../client/view/types.ts";
import { drawHelp } from "../help.ts";
import type { Frame } from "../paint.ts";
import { drawPicker } from "../picker/rows.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import type { FeedLayout } from "../rows/types.ts";
import { cutLine, measureLine } from "../rows/wrap.ts";
import type { Look } from "../screen-types.ts";
import { drawLine, drawRule } from "../theme.ts";
import { drawCompletions, drawHintLines, drawPlan, drawWaiting, queueLines } from "./bottom.ts";
import { drawComposer } from "./composer-block.ts";
import { drawSessionHeader, formatClock } from "./header.ts";
import { highlightMatches } from "./highlight-matches.ts";
import { type Bottom, drawRequestBlock, drawRequestRule, fitRow } from "./request-block.ts";
import { countNewEntries, findTopRow } from "./scroll.ts";
import { getFocused, getWaiting } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

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
  if (row !== undefined)
    return drawRequestBlock(ui, row, { look, head, room, card: toRequestCard(row, ui.view.session) });
  const most = rows >= 30 ? 6 : rows >= 20 ? 3 : 0;
  const extra = rows >= 10 ? [...drawPlan(ui, most), ...queueLines(ui, columns), ...drawCompletions(ui)] : [];
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
    const mode = createPiece(isOff ? "chat (disabled while a request is pending)" : "chat", STYLE.bold);
    // The rule stays visible beside it.
    const room = columns - measureLine([mode, ...more]) - 16;
    return drawRule([mode, ...drawActivity(ui, room)], more, columns);
  }
  return drawRequestRule(ui, row, more);
}

const SPINNER = ["◐", "◓", "◑", "◒"];

/** What the agent is doing, and since when: it turns every second. */
function drawActivity(ui: SessionUi, room: number): Line {
  const doing = getWaiting(ui).length > 0 ? undefined : describeActivity(ui.view);
  if (doing === undefined) return [];
  const { words, what, since_ms } = doing;
  const turn = SPINNER[Math.floor(ui.now_ms / 1_000) % SPINNER.length] ?? "";
  const clock = since_ms === undefined ? "" : ` ${formatClock(ui.now_ms - since_ms)}`;
  const text = `${words}${what === undefined ? "" : ` ${toSafeLine(what)}`}`;
  const said = cutLine([createPiece(text, STYLE.dim)], room - measureWidth(clock) - 5);
  if (said.length === 0) return [];
  return [
    createPiece(" · ", STYLE.dim),
    createPiece(`${turn} `, STYLE.good),
    ...said,
    createPiece(clock, STYLE.dim),
  ];
}

function padRows(rows: readonly string[], height: number): string[] {
  return [...rows.slice(0, height), ...Array.from({ length: Math.max(0, height - rows.length) }, () => "")];
}
