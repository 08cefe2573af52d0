// The session list: a tree, waiting sessions first. Pure; shared by the terminal UI and the dashboard.
import { defined } from "../../base/values.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, SessionView } from "../../protocol/views.ts";
import type { LinkState } from "./types.ts";

/** `sessions` and `requests` replace what was there; `more_sessions` adds the next page; `change` is an update. */
export type FleetInput =
  | { kind: "sessions"; sessions: readonly SessionView[] }
  | { kind: "more_sessions"; sessions: readonly SessionView[] }
  | { kind: "requests"; requests: readonly RequestRow[] }
  | { kind: "change"; change: ChangeView }
  | { kind: "link"; state: LinkState; message?: string };

export interface Fleet {
  sessions: ReadonlyMap<string, SessionView>;
  /** Pending requests by id, oldest first. */
  requests: ReadonlyMap<string, RequestRow>;
  link: { state: LinkState; message?: string };
}

export interface FleetRow {
  session: SessionView;
  depth: number;
  /** The directory of the project that its whole family is listed under; absent if its root has none. */
  project?: string;
  /** It or a descendant has pending requests. */
  isWaiting: boolean;
}

/**
 * `attention`: waiting sessions with their families first, then working ones, then by last activity. `created`: the
 * newest first, so that no row moves unless a session starts or ends.
 */
export type FleetOrder = "attention" | "created";

export function createFleet(): Fleet {
  return { sessions: new Map(), requests: new Map(), link: { state: "connecting" } };
}

/** Returns the same object if nothing changed. */
export function applyChanges(fleet: Fleet, inputs: readonly FleetInput[]): Fleet {
  if (inputs.length === 0) return fleet;
  const draft: Draft = {
    sessions: new Map(fleet.sessions),
    requests: new Map(fleet.requests),
    link: fleet.link,
    hasChanged: false,
  };
  for (const input of inputs) apply(draft, input);
  const { sessions, requests, link } = draft;
  return draft.hasChanged ? { sessions, requests: new Map([...requests].sort(byAge)), link } : fleet;
}

export function listFleetRows(fleet: Fleet, order: FleetOrder = "attention"): FleetRow[] {
  const below = groupByParent(fleet);
  const asked = indexOldest(fleet);
  const seen = new Set<string>();
  const compareFamilies = order === "created" ? compareCreated : compareAttention;
  const family = (session: SessionView): Family => {
    seen.add(session.session_id);
    const children = (below.get(session.session_id) ?? [])
      .filter(({ session_id }) => !seen.has(session_id))
      .map(family);
    const own = rankSession(asked.get(session.session_id), session);
    const place = [own, ...children.map((child) => child.place)].reduce(pickEarlier);
    return { session, children: children.sort(compareFamilies), place };
  };
  const roots = (below.get(undefined) ?? []).map(family);
  // Includes sessions in a parent cycle.
  for (const session of fleet.sessions.values())
    if (!seen.has(session.session_id)) roots.push(family(session));
  return roots.sort(compareFamilies).flatMap((root) => toRows(root, 0, root.session.project));
}

interface Draft {
  sessions: Map<string, SessionView>;
  requests: Map<string, RequestRow>;
  link: Fleet["link"];
  hasChanged: boolean;
}

function apply(draft: Draft, input: FleetInput): void {
  if (input.kind === "sessions")
    draft.sessions = new Map(input.sessions.map((session) => [session.session_id, session]));
  else if (input.kind === "more_sessions")
    for (const session of input.sessions) draft.sessions.set(session.session_id, session);
  else if (input.kind === "requests")
    draft.requests = new Map(
      input.requests.filter(isPending).map((request) => [request.request_id, request]),
    );
  else if (input.kind === "link") draft.link = { state: input.state, ...defined({ message: input.message }) };
  else if (!applyChange(draft, input.change)) return;
  draft.hasChanged = true;
}

/** Queue changes also come as session changes. A `reset` is followed by complete lists. */
function applyChange({ sessions, requests }: Draft, change: ChangeView): boolean {
  if (change.kind === "session") sessions.set(change.session.session_id, change.session);
  else if (change.kind === "session_removed") {
    sessions.delete(change.session_id);
    for (const [id, request] of requests) if (request.session_id === change.session_id) requests.delete(id);
  } else if (change.kind === "request") {
    const { request } = change;
    if (isPending(request)) requests.set(request.request_id, request);
    else return requests.delete(request.request_id);
  } else return false;
  return true;
}

function isPending({ status }: RequestRow): boolean {
  return status === "pending";
}

function byAge([, a]: [string, RequestRow], [, b]: [string, RequestRow]): number {
  return a.requested_at_ms - b.requested_at_ms;
}

interface Family {
  session: SessionView;
  children: Family[];
  place: Rank;
}

/** Compared from left to right, smaller first. */
interface Rank {
  /** 0 waiting, 1 working, 2 neither. */
  rank: number;
  /**
   * For waiting sessions the time of the oldest request, otherwise the minute of the last activity, newest first. Not
   * the age, which would reorder rows while nothing happens.
   */
  order: number;
  started: number;
}

function groupByParent({ sessions }: Fleet): Map<string | undefined, SessionView[]> {
  const below = new Map<string | undefined, SessionView[]>();
  for (const session of sessions.values()) {
    const isKnown = session.parent !== undefined && sessions.has(session.parent);
    const parent = isKnown ? session.parent : undefined;
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [session]);
    else siblings.push(session);
  }
  return below;
}

/** The oldest request of each session. */
function indexOldest({ requests }: Fleet): ReadonlyMap<string, RequestRow> {
  const oldest = new Map<string, RequestRow>();
  // The map is sorted by age.
  for (const request of requests.values())
    if (!oldest.has(request.session_id)) oldest.set(request.session_id, request);
  return oldest;
}

function rankSession(asked: RequestRow | undefined, session: SessionView): Rank {
  const { started_at_ms, turn, pending_requests } = session;
  const started = -started_at_ms;
  if (asked !== undefined || pending_requests > 0)
    return { rank: 0, order: asked?.requested_at_ms ?? Number.MAX_SAFE_INTEGER, started };
  const isWorking = turn !== undefined;
  const order = isWorking ? 0 : -Math.floor(getActiveMs(session) / 60_000);
  return { rank: isWorking ? 1 : 2, order, started };
}

/** When the session last did something. Outside a turn, what an agent sends may only be that the daemon found it again. */
export function getActiveMs({ turn, last_event_at_ms, last_active_at_ms }: SessionView): number {
  return turn === undefined ? last_active_at_ms : Math.max(last_event_at_ms ?? 0, last_active_at_ms);
}

function pickEarlier(a: Rank, b: Rank): Rank {
  return compare(a, b) <= 0 ? a : b;
}

function compareAttention(a: Family, b: Family): number {
  return compare(a.place, b.place) || compareIds(a, b);
}

function compareCreated(a: Family, b: Family): number {
  return b.session.started_at_ms - a.session.started_at_ms || compareIds(a, b);
}

function compareIds(a: Family, b: Family): number {
  return a.session.session_id < b.session.session_id ? -1 : 1;
}

function compare(a: Rank, b: Rank): number {
  return a.rank - b.rank || a.order - b.order || a.started - b.started;
}

function toRows(
  { session, children, place }: Family,
  depth: number,
  project: string | undefined,
): FleetRow[] {
  return [
    { session, depth, ...defined({ project }), isWaiting: place.rank === 0 },
    ...children.flatMap((child) => toRows(child, depth + 1, project)),
  ];
}
