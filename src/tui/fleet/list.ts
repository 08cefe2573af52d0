// Draws the parts of the list: header, columns, sessions, hints. Pure.
import { type Fleet, type FleetRow, getActiveMs } from "../../client/view/fleet.ts";
import { ageText, costText } from "../../client/view/format.ts";
import { keyName } from "../keys/table.ts";
import { formatName } from "../notify/fleet-notifications.ts";
import { safeLine } from "../rows/safe.ts";
import { both, type Line, type Piece, piece, STYLE } from "../rows/style.ts";
import { cutLine, lineWidth } from "../rows/wrap.ts";
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
  { title: "AGENT", width: 9, from: 50, cell: ({ session }) => [piece(safeLine(session.provider))] },
  {
    title: "AGE",
    width: 4,
    isRight: true,
    from: 40,
    cell: ({ session }, nowMs) => [piece(ageText(nowMs - session.started_at_ms))],
  },
  {
    title: "ACTIVE",
    width: 6,
    isRight: true,
    from: 90,
    cell: ({ session }, nowMs) => [piece(ageText(nowMs - getActiveMs(session)))],
  },
  {
    title: "COST",
    width: 7,
    isRight: true,
    from: 60,
    cell: ({ session }) => [piece(session.cost_usd === undefined ? "" : costText(session.cost_usd))],
  },
];

export function headerLine({ sessions, link }: Fleet, width: number): Line {
  const all = [...sessions.values()];
  const count = (is: (session: (typeof all)[number]) => boolean): number => all.filter(is).length;
  const waiting = count(({ pending_requests }) => pending_requests > 0);
  const working = count(({ turn, pending_requests }) => turn !== undefined && pending_requests === 0);
  const cost = all.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
  const dot = piece(" · ", STYLE.dim);
  const left: Piece[] = [piece("blemees", STYLE.bold), piece("  ")];
  left.push(piece(all.length === 1 ? "1 session" : `${all.length} sessions`));
  if (waiting > 0) left.push(dot, piece(`? ${waiting} waiting`, `1;${STYLE.warn}`));
  if (working > 0) left.push(dot, piece(`● ${working} working`, STYLE.good));
  if (cost > 0) left.push(dot, piece(costText(cost)));
  return joinSides(left, linkLine(link), width);
}

function linkLine({ state }: Fleet["link"]): Line {
  if (state === "live") return [];
  if (state === "connecting") return [piece("connecting…", STYLE.dim)];
  return [piece("✗ disconnected", STYLE.bad)];
}

export function columnsLine(width: number): Line {
  const cells = chooseColumns(width).flatMap((column) => padCell([piece(column.title)], column));
  return cutLine([piece(" ".repeat(MARK)), ...cells], width).map(({ text }) => piece(text, STYLE.dim));
}

export function sessionLine(row: FleetRow, isSelected: boolean, width: number, nowMs: number): Line {
  const mark = piece(isSelected ? "▌ " : "  ", isSelected ? STYLE.accent : STYLE.none);
  const cells = chooseColumns(width).flatMap((column) => padCell(column.cell(row, nowMs), column));
  const line = cutLine([mark, ...cells], width);
  const isDim = row.session.activity_state === "stopped" && !row.isWaiting && !row.session.failed;
  const styled = isDim ? line.map(({ text, style }) => piece(text, both(STYLE.dim, style))) : line;
  if (!isSelected) return styled;
  const filled = [...styled, piece(" ".repeat(Math.max(0, width - lineWidth(styled))))];
  return filled.map(({ text, style }) => piece(text, both("7", style)));
}

/** As many hints as fit, always including help and quit. */
export function hintsLine(width: number): Line {
  const hints = FLEET_KEYS.flatMap((row) => ("hint" in row ? [{ ...row, pieces: hintPieces(row) }] : []));
  const isLast = ({ action }: (typeof hints)[number]): boolean => action === "help" || action === "leave";
  const last = hints.filter(isLast).flatMap(({ pieces }) => pieces);
  const shown: Piece[] = [];
  for (const { pieces } of hints.filter((hint) => !isLast(hint))) {
    if (lineWidth([...shown, ...pieces, ...last]) > width) break;
    shown.push(...pieces);
  }
  return cutLine([...shown, ...last], width);
}

function hintPieces({ keys, hint }: { keys: readonly string[]; hint: string }): Piece[] {
  return [piece(keyName(keys[0] ?? ""), STYLE.bold), piece(` ${hint}  `, STYLE.dim)];
}

/** Left- and right-aligned text; the right side is cut if they do not both fit. */
export function joinSides(left: Line, right: Line, width: number): Line {
  const room = width - lineWidth(left) - 2;
  if (lineWidth(right) === 0 || room < 4) return cutLine(left, width);
  const cut = cutLine(right, room);
  return [...left, piece(" ".repeat(width - lineWidth(left) - lineWidth(cut))), ...cut];
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
  return [piece(`${sign} ${word}`, style)];
}

function nameCell({ session, depth, isWaiting }: FleetRow): Line {
  const branch = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, 8) - 1)}└ `;
  const style = isWaiting && session.pending_requests > 0 ? STYLE.bold : STYLE.none;
  return [piece(branch, STYLE.dim), piece(safeLine(formatName(session)), style)];
}

function actionCell({ session }: FleetRow): Line {
  const { last_action, turn } = session;
  if (last_action === undefined) return [];
  const style = turn === undefined ? STYLE.dim : STYLE.none;
  return [piece(safeLine(last_action.summary_text), style)];
}

function padCell(cell: Line, { width, isRight }: Column): Line {
  const cut = cutLine(cell, width);
  const blank = piece(" ".repeat(Math.max(0, width - lineWidth(cut))));
  return isRight ? [blank, ...cut, piece(" ")] : [...cut, blank, piece(" ")];
}
