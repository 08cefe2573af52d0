// Draws the parts of the list: header, columns, sessions, hints. Pure.
import { type BudgetLevel, findTightest } from "../../client/view/budget.ts";
import { type Fleet, type FleetRow, getActiveMs } from "../../client/view/fleet.ts";
import type { FleetGroup } from "../../client/view/fleet-groups.ts";
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
  cell(row: FleetRow, context: ListContext): Line;
}

export interface ListContext {
  width: number;
  nowMs: number;
  /** What projects are called, by their directories; empty: no column for them. */
  projects: ReadonlyMap<string, string>;
}

const LEVELS: Record<BudgetLevel, string> = { good: STYLE.dim, warn: STYLE.warn, bad: STYLE.bad };
const MARK = 2;
const PROJECT = "PROJECT";
const MAX_NAME = 34;
const MIN_NAME = 12;
/** Columns by importance; the last action takes the rest of the width. */
const FIXED: readonly (Column & { from: number; fromWithProject?: number })[] = [
  { title: "STATE", width: 16, from: 0, cell: ({ session }) => stateCell(session) },
  { title: PROJECT, width: 11, from: 66, cell: projectCell },
  { title: "AGENT", width: 9, from: 50, cell: ({ session }) => [createPiece(toSafeLine(session.provider))] },
  {
    title: "AGE",
    width: 4,
    isRight: true,
    from: 40,
    fromWithProject: 90,
    cell: ({ session }, { nowMs }) => [createPiece(formatAge(nowMs - session.started_at_ms))],
  },
  {
    title: "ACTIVE",
    width: 6,
    isRight: true,
    from: 90,
    cell: ({ session }, { nowMs }) => [createPiece(formatAge(nowMs - getActiveMs(session)))],
  },
  {
    title: "COST",
    width: 7,
    isRight: true,
    from: 60,
    cell: ({ session }) => [createPiece(session.cost_usd === undefined ? "" : formatCost(session.cost_usd))],
  },
  { title: "BUDGET", width: 13, from: 110, cell: ({ session }) => budgetCell(session) },
];

export function drawHeader({ sessions, link }: Fleet, width: number): Line {
  const all = [...sessions.values()].filter(({ archived_at_ms }) => archived_at_ms === undefined);
  const archived = sessions.size - all.length;
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
  if (archived > 0) left.push(dot, createPiece(`${archived} archived`, STYLE.dim));
  return joinSides(left, linkLine(link), width);
}

function linkLine({ state }: Fleet["link"]): Line {
  if (state === "live") return [];
  if (state === "connecting") return [createPiece("connecting…", STYLE.dim)];
  return [createPiece("✗ disconnected", STYLE.bad)];
}

export function drawColumns(context: ListContext): Line {
  const { width } = context;
  const cells = chooseColumns(context).flatMap((column) => padCell([createPiece(column.title)], column));
  return cutLine([createPiece(" ".repeat(MARK)), ...cells], width).map(({ text }) =>
    createPiece(text, STYLE.dim),
  );
}

/** The line above the sessions of a project. */
export function drawGroup(
  { title, rows, waiting, working, failed, cost_usd }: FleetGroup,
  width: number,
): Line {
  const dot = createPiece(" · ", STYLE.dim);
  const parts = [
    createPiece(rows.length === 1 ? "1 session" : `${rows.length} sessions`, STYLE.dim),
    ...(waiting === 0 ? [] : [createPiece(`? ${waiting} waiting`, STYLE.warn)]),
    ...(working === 0 ? [] : [createPiece(`● ${working} working`, STYLE.good)]),
    ...(failed === 0 ? [] : [createPiece(`✗ ${failed} failed`, STYLE.bad)]),
    ...(cost_usd === undefined ? [] : [createPiece(formatCost(cost_usd), STYLE.dim)]),
  ];
  const name = createPiece(toSafeLine(title), combineStyles(STYLE.bold, STYLE.accent));
  return cutLine(
    [name, createPiece("  "), ...parts.flatMap((part, at) => (at === 0 ? [part] : [dot, part]))],
    width,
  );
}

export function drawSession(row: FleetRow, isSelected: boolean, context: ListContext): Line {
  const { width } = context;
  const mark = createPiece(isSelected ? "▌ " : "  ", isSelected ? STYLE.accent : STYLE.none);
  const cells = chooseColumns(context).flatMap((column) => padCell(column.cell(row, context), column));
  const line = cutLine([mark, ...cells], width);
  const { activity_state, failed, archived_at_ms } = row.session;
  const isAtRest = activity_state === "stopped" && !failed;
  const isDim = !row.isWaiting && (isAtRest || archived_at_ms !== undefined);
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

function chooseColumns({ width, projects }: ListContext): readonly Column[] {
  const hasProjects = projects.size > 0;
  const [state, ...others] = FIXED.filter(
    ({ title, from, fromWithProject = from }) =>
      width >= (hasProjects ? fromWithProject : from) && (hasProjects || title !== PROJECT),
  );
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

/** The limit that is used up most. */
function budgetCell(session: FleetRow["session"]): Line {
  const tightest = findTightest(session);
  if (tightest === undefined) return [];
  const { bar, percent, level } = tightest;
  return [createPiece(`${bar} ${percent}`, LEVELS[level])];
}

function nameCell({ session, depth, isWaiting }: FleetRow): Line {
  const branch = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, 8) - 1)}└ `;
  const style = isWaiting && session.pending_requests > 0 ? STYLE.bold : STYLE.none;
  const labels = (session.labels ?? []).map((label) => createPiece(` #${toSafeLine(label)}`, STYLE.accent));
  return [createPiece(branch, STYLE.dim), createPiece(toSafeLine(formatName(session)), style), ...labels];
}

function projectCell({ project = "" }: FleetRow, { projects }: ListContext): Line {
  return [createPiece(toSafeLine(projects.get(project) ?? ""), STYLE.dim)];
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
