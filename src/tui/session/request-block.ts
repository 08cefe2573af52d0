// The open request with its choices at the bottom of a screen. Pure. Also returns the geometry that keys depend on.
import { measureWidth } from "../../base/width.ts";
import type { RequestCard } from "../../client/view/request-card.ts";
import type { RequestRow } from "../../client/view/types.ts";
import { drawRequest, drawRequestDetails } from "../rows/request-rows.ts";
import { createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import type { Row } from "../rows/types.ts";
import type { Look } from "../screen-types.ts";
import { drawLine, drawRule } from "../theme.ts";
import { drawChoicePanel, drawQuestionPanel, type Panel } from "./choice-rows.ts";
import { drawComposer } from "./composer-block.ts";
import { getAsked, getWaiting, hasQuestions, makeRequestKey } from "./state.ts";
import type { SessionUi } from "./ui-types.ts";

/** Rows of the feed, or of a list, kept above a request that scrolls. */
const FEED_ROWS = 3;

export interface Bottom {
  rows: string[];
  cursor?: { x: number; y: number };
  request?: string;
  editorWidth: number;
  requestScroll: number;
  requestHeight: number;
}

export interface RequestBlockOptions {
  look: Look;
  /** Rows above the request. */
  head: readonly string[];
  /** Rows available, with `head`. */
  room: number;
  /** What the request shows. */
  card: RequestCard;
}

/** The rule above a request: mode and place. `more`: right-aligned. */
export function drawRequestRule(ui: SessionUi, row: RequestRow, more: Line = []): Piece[] {
  const rows = getWaiting(ui);
  const at = rows.findIndex(({ request_id }) => request_id === row.request_id) + 1;
  const details = getAsked(ui, row).isDetailed ? " · details" : "";
  const words = `${ui.mode} · request ${at} of ${rows.length}${details}`;
  return drawRule([createPiece(words, `1;${STYLE.warn}`)], more, ui.size.columns, STYLE.warn);
}

/** The request, scrolled if needed, and the choices, which are always visible. */
export function drawRequestBlock(
  ui: SessionUi,
  row: RequestRow,
  { look, head, room, card }: RequestBlockOptions,
): Bottom {
  const { columns, rows } = ui.size;
  const asked = getAsked(ui, row);
  const isAsking = hasQuestions(row);
  const space = room - head.length;
  const draws = asked.isDetailed ? drawRequestDetails : drawRequest;
  const said = draws(row, columns, look, card).map((one) => fitRow(one, columns));
  const panel: Panel = isAsking
    ? drawQuestionPanel(row, asked, columns, look)
    : drawChoicePanel(card.choices, asked, columns, look, Math.max(space - said.length, space >> 1));
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

/** Cuts the plain text on screens narrower than the minimum row width. */
export function fitRow({ text, ansi }: Row, columns: number): string {
  return measureWidth(text) <= columns
    ? ansi
    : drawLine([createPiece(text)], columns, { hasColor: false, isAscii: false });
}
