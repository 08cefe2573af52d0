// Draws the parts of the list: header, columns, sessions, hints. Pure.
import { type Fleet, type FleetRow, getActiveMs } from "../../client/view/fleet.ts";
import { formatAge, formatCost } from "../../client/view/format.ts";
import { getKeyName } from "../keys/table.ts";
import { formatName } from "../notify/fleet-notifications.ts";
import { toSafeLine } from "../rows/safe.ts";
import { combineStyles, createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { cutLine, measureLine } from "../rows/wrap.ts";
import { FLEET_KEYS } from "./keys.ts";
import { getSign } from "./signs.ts";

interface Column {
  title: string;
  width: number;
  isRight?: true;
  cell(row: FleetRow, nowMs: number): Line;
}

const MARK = 2;
const MAX_NAME = 34;
const MIN_NAME = 12;
/** Columns by importance; the last action takes the rest of the width. */
const FIXED: readonly (Column & { from: number })[] = [
  { title: "STATE", width: 16, from: 0, cell: ({ session }) => stateCell(session) },
  { title: "AGENT", width: 9, from: 50, cell: ({ session }) => [createPiece(toSafeLine(session.provider))] },
  {
    title: "AGE",
    width: 4,
    isRight: true,
    from: 40,
    cell: ({ session }, nowMs) => [createPiece(formatAge(nowMs - session.started_at_ms))],
  },
  {
    title: "ACTIVE",
    width: 6,
    isRight: true,
    from: 90,
    cell: ({ session }, nowMs) => [createPiece(formatAge(nowMs - getActiveMs(session)))],
  },
  {
    title: "COST",
    width: 7,
    isRight: true,
    from: 60,
    cell: ({ session }) => [createPiece(session.cost_usd === undefined ? "" : formatCost(session.cost_usd))],
  },
];

export function drawHeader({ sessions, link }: Fleet, width: number): Line {
  const all = [...sessions.values()];
  const count = (is: (session: (typeof all)[number]) => boolean): number => all.filter(is).length;
  const waiting = count(({ pending_requests }) => pending_requests > 0);
  const working = count(({ turn, pending_requests }) => turn !== undefined && pending_requests === 0);
  const cost = all.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
  const dot = createPiece(" · ", STYLE.dim);
  const left: Piece[] = [createPiece("blemees", STYLE.bold), createPiece("  ")];
  left.push(createPiece(all.length === 1 ? "1 session" : `${all.length} sessions`));
  if (waiting > 0) left.push(dot, createPiece(`? ${waiting} waiting`, `1;${STYLE.warn}`));
  if (working > 0) left.push(dot, createPiece(`● ${working} working`, STYLE.good));
  if (cost > 0) left.push(dot, createPiece(formatCost(cost)));
  return joinSides(left, linkLine(link), width);
}

function linkLine({ state }: Fleet["link"]): Line {
  if (state === "live") return [];
  if (state === "connecting") return [createPiece("connecting…", STYLE.dim)];
  return [createPiece("✗ disconnected", STYLE.bad)];
}

export function drawColumns(width: number): Line {
  const cells = chooseColumns(width).flatMap((column) => padCell([createPiece(column.title)], column));
  return cutLine([createPiece(" ".repeat(MARK)), ...cells], width).map(({ text }) =>
    createPiece(text, STYLE.dim),
  );
}

export function drawSession(row: FleetRow, isSelected: boolean, width: number, nowMs: number): Line {
  const mark = createPiece(isSelected ? "▌ " : "  ", isSelected ? STYLE.accent : STYLE.none);
  const cells = chooseColumns(width).flatMap((column) => padCell(column.cell(row, nowMs), column));
  const line = cutLine([mark, ...cells], width);
  const isDim = row.session.activity_state === "stopped" && !row.isWaiting && !row.session.failed;
  const styled = isDim
    ? line.map(({ text, style }) => createPiece(text, combineStyles(STYLE.dim, style)))
    : line;
  if (!isSelected) return styled;
  const filled = [...styled, createPiece(" ".repeat(Math.max(0, width - measureLine(styled))))];
  return filled.map(({ text, style }) => createPiece(text, combineStyles("7", style)));
}

/** As many hints as fit, always including help and quit. */
export function drawHints(width: number): Line {
  const hints = FLEET_KEYS.flatMap((row) => ("hint" in row ? [{ ...row, pieces: hintPieces(row) }] : []));
  const isLast = ({ action }: (typeof hints)[number]): boolean => action === "help" || action === "leave";
  const last = hints.filter(isLast).flatMap(({ pieces }) => pieces);
  const shown: Piece[] = [];
  for (const { pieces } of hints.filter((hint) => !isLast(hint))) {
    if (measureLine([...shown, ...pieces, ...last]) > width) break;
    shown.push(...pieces);
  }
  return cutLine([...shown, ...last], width);
}

function hintPieces({ keys, hint }: { keys: readonly string[]; hint: string }): Piece[] {
  return [createPiece(getKeyName(keys[0] ?? ""), STYLE.bold), createPiece(` ${hint}  `, STYLE.dim)];
}

/** Left- and right-aligned text; the right side is cut if they do not both fit. */
export function joinSides(left: Line, right: Line, width: number): Line {
  const room = width - measureLine(left) - 2;
  if (measureLine(right) === 0 || room < 4) return cutLine(left, width);
  const cut = cutLine(right, room);
  return [...left, createPiece(" ".repeat(width - measureLine(left) - measureLine(cut))), ...cut];
}

/** The first visible row that keeps the selection in view with the least scrolling. */
export function findTop(top: number, index: number, height: number, count: number): number {
  const kept = Math.min(top, Math.max(0, count - height));
  if (index < kept) return index;
  return index >= kept + height ? index - height + 1 : kept;
}

function chooseColumns(width: number): readonly Column[] {
  const [state, ...others] = FIXED.filter(({ from }) => width >= from);
  const fixed = [state, ...others].reduce((sum, column) => sum + (column?.width ?? 0) + 1, MARK);
  const left = width - fixed - 1;
  // The name comes first; the last action is shown only if it has room to be useful.
  const hasAction = left >= MIN_NAME * 2;
  const nameWidth = Math.max(MIN_NAME, hasAction ? Math.min(MAX_NAME, Math.floor(left * 0.45)) : left);
  const name: Column = { title: "SESSION", width: nameWidth, cell: nameCell };
  const action: Column = { title: "LAST ACTION", width: left - nameWidth - 1, cell: actionCell };
  return [...(state === undefined ? [] : [state]), name, ...others, ...(hasAction ? [action] : [])];
}

function stateCell(session: FleetRow["session"]): Line {
  const { sign, word, style } = getSign(session);
  return [createPiece(`${sign} ${word}`, style)];
}

function nameCell({ session, depth, isWaiting }: FleetRow): Line {
  const branch = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, 8) - 1)}└ `;
  const style = isWaiting && session.pending_requests > 0 ? STYLE.bold : STYLE.none;
  return [createPiece(branch, STYLE.dim), createPiece(toSafeLine(formatName(session)), style)];
}

function actionCell({ session }: FleetRow): Line {
  const { last_action, turn } = session;
  if (last_action === undefined) return [];
  const style = turn === undefined ? STYLE.dim : STYLE.none;
  return [createPiece(toSafeLine(last_action.summary_text), style)];
}

function padCell(cell: Line, { width, isRight }: Column): Line {
  const cut = cutLine(cell, width);
  const blank = createPiece(" ".repeat(Math.max(0, width - measureLine(cut))));
  return isRight ? [blank, ...cut, createPiece(" ")] : [...cut, blank, createPiece(" ")];
}
