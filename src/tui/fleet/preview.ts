// The request of the selected session, below the list, so that `y` can accept it there. Pure.
import { toRequestCard } from "../../client/view/request-card.ts";
import { drawPart, drawRequest } from "../rows/request-rows.ts";
import { createPiece, STYLE } from "../rows/style.ts";
import type { Look, Size } from "../screen-types.ts";
import { fitRow } from "../session/request-block.ts";
import { makeRequestKey } from "../session/state.ts";
import { drawLine, drawRule } from "../theme.ts";
import { findAccept, findPreviewed, listPending, type PendingState } from "./pending.ts";

/** Smaller terminals have no room for it; `a` opens the request there. */
const MIN_ROWS = 16;
/** Of the screen. */
const SHARE = 0.5;

export interface Preview {
  rows: string[];
  /** `makeRequestKey` of the request, if all of it is shown. */
  shown?: string;
}

export function drawPreview(state: PendingState, { columns, rows }: Size, look: Look): Preview {
  const row = rows < MIN_ROWS ? undefined : findPreviewed(state);
  if (row === undefined) return { rows: [] };
  const session = state.fleet.sessions.get(row.session_id);
  const whole = toRequestCard(row, session);
  const card = { ...whole, parts: [...whole.parts, ...whole.questions] };
  const accept = findAccept(card);
  const count = listPending(state).filter(({ session_id }) => session_id === row.session_id).length;
  const left = [createPiece(count === 1 ? "request" : `request 1 of ${count}`, `1;${STYLE.warn}`)];
  const said = [
    ...drawRequest(row, columns, look, card).map((one) => fitRow(one, columns)),
    ...(accept?.notes ?? []).flatMap((note) =>
      drawPart(note, columns, look, "    ").map((line) => drawLine(line, columns, look)),
    ),
  ];
  const most = Math.floor(rows * SHARE) - 1;
  const isWhole = said.length <= most && row.is_cut !== true;
  const canAccept = isWhole && accept !== undefined && row.payload.questions === undefined;
  const keys = [
    ...(canAccept ? [createPiece("y", STYLE.bold), createPiece(" accept once  ")] : []),
    createPiece("a", STYLE.bold),
    createPiece(row.payload.questions === undefined ? " all choices" : " answer"),
  ];
  const rest = said.length - (most - 1);
  const more = drawLine([createPiece(`  … ${rest} more rows: a shows them`, STYLE.warn)], columns, look);
  return {
    rows: [
      drawLine(drawRule(left, keys, columns, STYLE.warn), columns, look),
      ...(said.length <= most ? said : [...said.slice(0, most - 1), more]),
    ],
    ...(isWhole ? { shown: makeRequestKey(row) } : {}),
  };
}
