// All sessions as a screen lists them: a tree, those that wait for a person first. Pure; shared by terminal and browser.
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, SessionView } from "../../protocol/views.ts";
import type { LinkState } from "./types.ts";

/** `sessions` and `requests` are everything there is; a change is the difference. */
export type FleetInput =
  | { kind: "sessions"; sessions: readonly SessionView[] }
  | { kind: "requests"; requests: readonly RequestRow[] }
  | { kind: "change"; change: ChangeView }
  | { kind: "link"; state: LinkState; message?: string };

export interface Fleet {
  sessions: ReadonlyMap<string, SessionView>;
  /** What waits for an answer, oldest first, by its id. */
  requests: ReadonlyMap<string, RequestRow>;
  link: { state: LinkState; message?: string };
}

/** A row of the list: a session and how deep in its family it stands. */
export interface FleetRow {
  session: SessionView;
  depth: number;
  /** It or one below it waits for a person. */
  isWaiting: boolean;
}

export function emptyFleet(): Fleet {
  return { sessions: new Map(), requests: new Map(), link: { state: "connecting" } };
}

/** The same object comes back when nothing changed. */
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

/** Those that wait first, with their families; then those that work, then by their last activity. */
export function fleetRows(fleet: Fleet): FleetRow[] {
  const below = childrenOf(fleet);
  const seen = new Set<string>();
  const family = (session: SessionView): Family => {
    seen.add(session.session_id);
    const children = (below.get(session.session_id) ?? [])
      .filter(({ session_id }) => !seen.has(session_id))
      .map(family);
    const place = [ownPlace(fleet, session), ...children.map((child) => child.place)].reduce(earlier);
    return { session, children: children.sort(byPlace), place };
  };
  const roots = (below.get(undefined) ?? []).map(family);
  // Nothing is left out, not even two that are each other's parents.
  for (const session of fleet.sessions.values())
    if (!seen.has(session.session_id)) roots.push(family(session));
  return roots.sort(byPlace).flatMap((root) => rowsOf(root, 0));
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
  else if (input.kind === "requests")
    draft.requests = new Map(
      input.requests.filter(isPending).map((request) => [request.request_id, request]),
    );
  else if (input.kind === "link")
    draft.link = { state: input.state, ...(input.message === undefined ? {} : { message: input.message }) };
  else if (!applyChange(draft, input.change)) return;
  draft.hasChanged = true;
}

/** What is in a queue is told by the session's own change. A `reset` is followed by everything. */
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
  place: Place;
}

/** Compared from left to right, smaller first. */
interface Place {
  /** 0 waits, 1 works, 2 does neither. */
  rank: number;
  /**
   * Among those that wait the longest wait, else the minute in which it was last active, newest first. Never the age:
   * that changes while nothing happens, and rows would change places.
   */
  order: number;
  started: number;
}

function childrenOf({ sessions }: Fleet): Map<string | undefined, SessionView[]> {
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

function ownPlace({ requests }: Fleet, session: SessionView): Place {
  const { session_id, started_at_ms, turn, pending_requests } = session;
  const started = -started_at_ms;
  // The oldest stand first in the map.
  const asked = [...requests.values()].find((request) => request.session_id === session_id);
  if (asked !== undefined || pending_requests > 0)
    return { rank: 0, order: asked?.requested_at_ms ?? Number.MAX_SAFE_INTEGER, started };
  const isAtWork = turn !== undefined;
  const activeMs = Math.max(session.last_event_at_ms ?? 0, session.last_active_at_ms);
  const order = isAtWork ? 0 : -Math.floor(activeMs / 60_000);
  return { rank: isAtWork ? 1 : 2, order, started };
}

function earlier(a: Place, b: Place): Place {
  return compare(a, b) <= 0 ? a : b;
}

function byPlace(a: Family, b: Family): number {
  return compare(a.place, b.place) || (a.session.session_id < b.session.session_id ? -1 : 1);
}

function compare(a: Place, b: Place): number {
  return a.rank - b.rank || a.order - b.order || a.started - b.started;
}

function rowsOf({ session, children, place }: Family, depth: number): FleetRow[] {
  return [
    { session, depth, isWaiting: place.rank === 0 },
    ...children.flatMap((child) => rowsOf(child, depth + 1)),
  ];
}
