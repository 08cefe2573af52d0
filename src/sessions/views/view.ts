// Sessions as a manager sees them (`SessionView`), from rows and the state of those in memory. Pure; for lists, shared
// parts (children, pending requests) are computed once.
import { defined } from "../../base/values.ts";
import { findProject } from "../../observe/index.ts";
import type { Action } from "../../protocol/actions.ts";
import type { BudgetView } from "../../protocol/budget.ts";
import type { QuotaWait, QuotaWaitView, QuotaWindow } from "../../protocol/quota.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { ActivityState, SessionRow } from "../../protocol/session.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { RowPlace } from "../../store/types.ts";
import { countContextTokens } from "../core/usage.ts";
import type { ViewFilter } from "../manager-types.ts";

/** Fields that only a session in memory has. */
export interface LiveFacts {
  activity: ActivityState;
  isTurnActive: boolean;
  isRunning: boolean;
  /** A client owns it. */
  attached: boolean;
  last_event_at_ms?: number | undefined;
  /** Why its queue is held. */
  held?: string | undefined;
  quotaWait?: QuotaWait | undefined;
}

export interface ViewParts {
  row: SessionRow;
  /** Absent: only in the store. */
  live?: LiveFacts | undefined;
}

/** Shared by the views of several sessions. */
export interface ViewWorld {
  /** Number of pending requests by session, where there are any. */
  pending: ReadonlyMap<string, number>;
  /** The same including all descendants; see `sumFamilyPending`. */
  familyPending: ReadonlyMap<string, number>;
  children: ChildrenIndex;
  lastAction(session_id: string): Action | undefined;
  /** The limits of the session's account. */
  quota(row: SessionRow): QuotaWindow[];
  /** The limits that apply to a session. */
  budgets?(session_id: string): BudgetView[] | undefined;
  /** The backend's name for session managers. */
  provider(backend: string): string;
  /** 0: nothing counts as stalled. */
  stallMs: number;
  nowMs: number;
}

export type ChildrenIndex = ReadonlyMap<string, readonly string[]>;

export function toView({ row, live }: ViewParts, world: ViewWorld): SessionView {
  const { session_id } = row;
  const lastAction = world.lastAction(session_id);
  const turn = live?.isTurnActive === true ? row.turn : undefined;
  const view: SessionView = {
    session_id,
    backend: row.backend,
    provider: world.provider(row.backend),
    children: [...(world.children.get(session_id) ?? [])],
    managed: row.managed === true,
    activity_state: live?.activity ?? "stopped",
    attached: live?.attached === true,
    running: live?.isRunning === true,
    stalled: isStalled({ row, live }, world),
    pending_requests: world.pending.get(session_id) ?? 0,
    family_pending_requests: world.familyPending.get(session_id) ?? 0,
    queued: row.queue?.length ?? 0,
    turns: row.turns,
    usage: row.cumulative_usage,
    context_tokens: countContextTokens(row.last_turn_usage),
    started_at_ms: row.started_at_ms,
    last_active_at_ms: row.last_active_at_ms,
    last_seq: row.last_seq,
  };
  // No spreads: a busy daemon makes many views per second.
  if (hasFailed({ row, live })) view.failed = true;
  if (row.name !== undefined) view.name = row.name;
  if (row.title !== undefined) view.title = row.title;
  if (row.cwd !== undefined) view.cwd = row.cwd;
  const project = findProject(row);
  if (project !== undefined) view.project = project;
  if (row.labels !== undefined) view.labels = row.labels;
  if (row.archived_at_ms !== undefined) view.archived_at_ms = row.archived_at_ms;
  if (row.model !== undefined) view.model = row.model;
  if (row.permission_mode !== undefined) view.permission_mode = row.permission_mode;
  if (row.parent !== undefined) view.parent = row.parent;
  if (row.manager !== undefined) view.manager = row.manager;
  if (row.mcp !== undefined) view.mcp = row.mcp;
  if (turn !== undefined) view.turn = { turn_id: turn.turn_id, started_at_ms: turn.started_at_ms };
  if (row.last_result !== undefined) view.last_result = row.last_result;
  if (lastAction !== undefined) view.last_action = settleAction(lastAction, view);
  if (live?.held !== undefined) view.held = live.held;
  if (live?.quotaWait !== undefined) view.quota_wait = toWaitView(live.quotaWait);
  const quota = world.quota(row);
  if (quota.length > 0) view.quota = quota;
  if (row.on_limit !== undefined) view.on_limit = row.on_limit;
  if (row.cost_usd !== undefined) view.cost_usd = row.cost_usd;
  if (row.budget !== undefined) view.budget = row.budget;
  const budgets = world.budgets?.(session_id);
  if (budgets !== undefined) view.budgets = budgets;
  if (row.worktree !== undefined) view.worktree = row.worktree;
  if (live?.last_event_at_ms !== undefined) view.last_event_at_ms = live.last_event_at_ms;
  if (row.stopped_at_ms !== undefined) view.stopped_at_ms = row.stopped_at_ms;
  return view;
}

function toWaitView({ since_ms, until_ms, window, asks }: QuotaWait): QuotaWaitView {
  return { since_ms, until_ms, ...defined({ window, asks }) };
}

/**
 * A killed daemon can lose the end of the last action, but nothing is running or waiting in a session without a turn
 * and without requests.
 */
export function settleAction(
  action: Action,
  { turn, pending_requests, last_result }: Pick<SessionView, "turn" | "pending_requests" | "last_result">,
): Action {
  const isOpen = action.status === "running" ? turn !== undefined : pending_requests > 0;
  if ((action.status !== "running" && action.status !== "waiting") || isOpen) return action;
  const wasGood = last_result?.turn_id === action.turn_id && last_result?.subtype === "success";
  return { ...action, status: wasGood && action.status === "running" ? "success" : "interrupted" };
}

/** At rest after a failure, not after success or a stop. */
function hasFailed({ row, live }: ViewParts): boolean {
  const isAtRest = live === undefined || live.activity === "idle" || live.activity === "stopped";
  if (!isAtRest || row.stopped_at_ms !== undefined) return false;
  // A message whose agent could not be started never became a turn.
  if (row.inputs?.at(-1)?.state === "failed") return true;
  const subtype = row.last_result?.subtype ?? "success";
  return subtype !== "success" && subtype !== "interrupted";
}

/** Sessions that pass the filter, most recently active first. */
export function selectParts(all: readonly ViewParts[], filter: ViewFilter): ViewParts[] {
  return all.filter((parts) => isMeant(parts, filter)).sort((a, b) => compareActivity(a.row, b.row));
}

/** Most recently active first; the order does not depend on the clock. */
export function compareActivity(a: RowPlace, b: RowPlace): number {
  const byTime = b.last_active_at_ms - a.last_active_at_ms || b.started_at_ms - a.started_at_ms;
  return byTime || (a.session_id < b.session_id ? -1 : Number(a.session_id > b.session_id));
}

/** A turn is running, nothing is pending, and the agent has been silent for too long. */
export function isStalled(
  { row, live }: ViewParts,
  { pending, stallMs, nowMs }: Pick<ViewWorld, "pending" | "stallMs" | "nowMs">,
): boolean {
  if (stallMs <= 0 || live?.isTurnActive !== true || (pending.get(row.session_id) ?? 0) > 0) return false;
  const lastSignMs = Math.max(live.last_event_at_ms ?? 0, row.turn?.started_at_ms ?? 0);
  return lastSignMs > 0 && nowMs - lastSignMs > stallMs;
}

/** Parent to children, oldest first. */
export function indexChildren(
  rows: Iterable<Pick<SessionRow, "session_id" | "parent" | "started_at_ms">>,
): ChildrenIndex {
  const index = new Map<string, string[]>();
  const children = [...rows].filter(({ parent }) => parent !== undefined);
  for (const { session_id, parent = "" } of children.sort((a, b) => a.started_at_ms - b.started_at_ms)) {
    const siblings = index.get(parent);
    if (siblings === undefined) index.set(parent, [session_id]);
    else siblings.push(session_id);
  }
  return index;
}

export function countPending(
  requests: Iterable<Pick<RequestRow, "session_id" | "status">>,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { session_id, status } of requests) {
    if (status === "pending") counts.set(session_id, (counts.get(session_id) ?? 0) + 1);
  }
  return counts;
}

/** Adds each count to all ancestors, once each even if a family is circular. */
export function sumFamilyPending(
  pending: ReadonlyMap<string, number>,
  above: (session_id: string) => readonly string[],
): Map<string, number> {
  const totals = new Map<string, number>();
  for (const [session_id, count] of pending) {
    for (const id of new Set([session_id, ...above(session_id)]))
      totals.set(id, (totals.get(id) ?? 0) + count);
  }
  return totals;
}

/** The session, then its descendants, parents before children. A circular family is walked once. */
export function listFamily(
  session_id: string,
  children: ChildrenIndex,
): { session_id: string; depth: number }[] {
  const family: { session_id: string; depth: number }[] = [];
  const seen = new Set<string>();
  const open = [{ session_id, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next.session_id)) continue;
    seen.add(next.session_id);
    family.push(next);
    const depth = next.depth + 1;
    for (const id of (children.get(next.session_id) ?? []).toReversed()) open.push({ session_id: id, depth });
  }
  return family;
}

export function isMeant({ row, live }: ViewParts, filter: ViewFilter): boolean {
  if (filter.backend !== undefined && row.backend !== filter.backend) return false;
  if (filter.parent !== undefined && row.parent !== filter.parent) return false;
  if (filter.name !== undefined && row.name !== filter.name) return false;
  if (filter.cwd !== undefined && row.cwd !== filter.cwd) return false;
  if (filter.prefix !== undefined && !row.session_id.startsWith(filter.prefix)) return false;
  if (filter.live === true && live === undefined) return false;
  if (!fitsMarks(row, filter) || !fitsFigures(row, filter)) return false;
  if (filter.failed !== undefined && filter.failed !== hasFailed({ row, live })) return false;
  if (filter.state === undefined || filter.state.includes(live?.activity ?? "stopped")) return true;
  return filter.state.includes("failed") && hasFailed({ row, live });
}

function fitsMarks(row: SessionRow, { project, labels, archived }: ViewFilter): boolean {
  if (archived !== undefined && archived !== (row.archived_at_ms !== undefined)) return false;
  if (labels?.some((label) => row.labels?.includes(label) !== true) === true) return false;
  return project === undefined || isProject(findProject(row), project);
}

/** `wanted`: a project's directory, or the last part of it. */
export function isProject(own: string | undefined, wanted: string): boolean {
  return own === wanted || (own !== undefined && !wanted.includes("/") && own.endsWith(`/${wanted}`));
}

function fitsFigures(
  { last_active_at_ms, cost_usd }: SessionRow,
  { active_after_ms, active_before_ms, min_cost_usd }: ViewFilter,
): boolean {
  if (active_after_ms !== undefined && last_active_at_ms < active_after_ms) return false;
  if (active_before_ms !== undefined && last_active_at_ms >= active_before_ms) return false;
  return min_cost_usd === undefined || (cost_usd !== undefined && cost_usd >= min_cost_usd);
}
