// Requests: updates in the stream, and the list of pending ones.
import { asNumber } from "../../base/values.ts";
import { endWait, NO_WAIT, startWait, type WaitClock } from "../../base/wait-clock.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionFrame, WireFrame } from "../frames.ts";
import { type RequestUpdate, readRequest } from "../requests.ts";
import { type Draft, findToolAt, type Moment, push, replace } from "./draft.ts";
import { judgeTool, setChanges, setWaiting } from "./reduce-tools.ts";
import { isRow } from "./request-shape.ts";
import type { RequestEntry } from "./types.ts";

/** False if the frame has no request, or none that can be shown. */
export function reduceRequest(draft: Draft, frame: WireFrame, moment: Moment): boolean {
  const update = readRequest(frame as unknown as SessionFrame);
  if (update === undefined || typeof update.request_id !== "string") return false;
  const known = findEntry(draft, update.request_id);
  if (update.status === "pending") {
    if (!isRow(update)) return false;
    if (known === undefined)
      push(draft, byAsker(draft, moment, update), { kind: "request", request: update });
    else setRow(draft, known, mergeRow(known.entry.request, update));
    wait(draft, update);
    return true;
  }
  const before =
    known?.entry.request ?? draft.view.requests.find(({ request_id }) => request_id === update.request_id);
  settle(draft, update, before);
  if (before !== undefined) addWait(draft, before, update, moment);
  if (known !== undefined) setRow(draft, known, applyUpdate(known.entry.request, update));
  return known !== undefined;
}

/** A sub-agent's request is shown with its tool call. */
function byAsker(draft: Draft, moment: Moment, { item_id }: RequestRow): Moment {
  const parent = item_id === undefined ? undefined : findToolAt(draft, item_id)?.tool.parent;
  return parent === undefined ? moment : { ...moment, parent };
}

/** An expired request is updated twice: on expiry, and when the agent has the policy's answer. */
function addWait(draft: Draft, before: RequestRow, update: RequestUpdate, moment: Moment): void {
  const { request_id, item_id, requested_at_ms } = before;
  const untilMs = asNumber(update.resolved_at_ms) ?? moment.at_ms ?? requested_at_ms;
  const isOver = before.status !== "pending";
  setWaits(draft, (waits) => endWait(waits, request_id, untilMs));
  if (item_id !== undefined) judgeTool(draft, item_id, update, isOver ? 0 : untilMs - requested_at_ms);
}

/** The complete list: requests not in it are no longer pending. */
export function reduceRequests(draft: Draft, requests: readonly RequestRow[]): void {
  const waiting = requests.filter((row) => isRow(row) && row.status === "pending");
  const rows = new Map(waiting.map((row) => [row.request_id, row]));
  for (const before of draft.view.requests) {
    const now = rows.get(before.request_id);
    if (now !== undefined) rows.set(before.request_id, mergeRow(before, now));
  }
  for (let index = draft.entries.length - 1; index >= 0; index -= 1) {
    const entry = draft.entries[index];
    if (entry?.kind !== "request") continue;
    const now = rows.get(entry.request.request_id);
    const { status } = entry.request;
    // An older list may not have had it yet; a newer one does.
    if (status !== "pending" && !(status === "withdrawn" && now !== undefined)) continue;
    const row: RequestRow =
      now === undefined ? { ...entry.request, status: "withdrawn" } : mergeRow(entry.request, now);
    setRow(draft, { at: draft.view.dropped + index, entry }, row);
    if (now !== undefined) rows.set(row.request_id, row);
  }
  const before = draft.view.requests;
  draft.view.requests = [...rows.values()].sort(byAge);
  draft.hasChanged = true;
  for (const { item_id } of before)
    if (item_id !== undefined) setWaiting(draft, item_id, isAsked(draft, item_id));
  for (const row of draft.view.requests) markTool(draft, row);
}

function wait(draft: Draft, row: RequestRow): void {
  const { requests } = draft.view;
  const known = requests.find(({ request_id }) => request_id === row.request_id);
  const others = requests.filter(({ request_id }) => request_id !== row.request_id);
  draft.view.requests = [...others, known === undefined ? row : mergeRow(known, row)].sort(byAge);
  draft.hasChanged = true;
  markTool(draft, row);
}

function settle(draft: Draft, { request_id }: RequestUpdate, before: RequestRow | undefined): void {
  const { requests } = draft.view;
  if (requests.some((row) => row.request_id === request_id)) {
    draft.view.requests = requests.filter((row) => row.request_id !== request_id);
    draft.hasChanged = true;
  }
  const item_id = before?.item_id;
  if (item_id !== undefined && !isAsked(draft, item_id)) setWaiting(draft, item_id, false);
}

function markTool(draft: Draft, row: RequestRow): void {
  const { request_id, item_id, payload, requested_at_ms } = row;
  setWaits(draft, (waits) => startWait(waits, request_id, requested_at_ms));
  if (item_id === undefined) return;
  setWaiting(draft, item_id, true);
  judgeTool(draft, item_id, row, 0);
  // The backend knows the files, so this is more accurate than the input.
  setChanges(draft, item_id, payload.changes);
}

function setWaits({ view }: Draft, change: (waits: WaitClock) => WaitClock): void {
  if (view.turn !== undefined) view.turn = { ...view.turn, waits: change(view.turn.waits ?? NO_WAIT) };
}

function isAsked({ view }: Draft, id: string): boolean {
  return view.requests.some(({ item_id }) => item_id === id);
}

/** A complete payload is kept when a list has a truncated one. */
function mergeRow(before: RequestRow, now: RequestRow): RequestRow {
  if (now.is_cut !== true || before.is_cut === true || before.shown_hash !== now.shown_hash)
    return { ...before, ...now };
  const { is_cut: _cut, ...rest } = now;
  return { ...before, ...rest, payload: before.payload };
}

/** Updates have no payload. */
function applyUpdate(before: RequestRow, update: RequestUpdate): RequestRow {
  return { ...before, ...update, payload: before.payload };
}

function setRow(draft: Draft, { at, entry }: EntryPlace, request: RequestRow): void {
  replace(draft, at, { ...entry, request });
}

interface EntryPlace {
  at: number;
  entry: RequestEntry;
}

function findEntry({ entries, view }: Draft, request_id: string): EntryPlace | undefined {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.kind === "request" && entry.request.request_id === request_id)
      return { at: view.dropped + index, entry };
  }
  return undefined;
}

function byAge(a: RequestRow, b: RequestRow): number {
  return a.requested_at_ms - b.requested_at_ms;
}
