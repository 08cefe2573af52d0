// What waits for a person: the news in the stream, and the list that the manager gives.
import { endWait, NO_WAIT, startWait, type WaitClock } from "../../base/wait-clock.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionFrame, WireFrame } from "../frames.ts";
import { type RequestNews, requestOf } from "../requests.ts";
import { type Draft, type Moment, push, replace, toolAt } from "./draft.ts";
import { judgeTool, setChanges, setWaiting } from "./reduce-tools.ts";
import { isRow } from "./request-shape.ts";
import type { RequestEntry } from "./types.ts";
import { numberOf } from "./values.ts";

/** False: the frame tells of no request, or of none that can be shown as one. */
export function reduceRequest(draft: Draft, frame: WireFrame, moment: Moment): boolean {
  const news = requestOf(frame as unknown as SessionFrame);
  if (news === undefined || typeof news.request_id !== "string") return false;
  const known = entryOf(draft, news.request_id);
  if (news.status === "pending") {
    if (!isRow(news)) return false;
    if (known === undefined) push(draft, byAsker(draft, moment, news), { kind: "request", request: news });
    else setRow(draft, known, merged(known.entry.request, news));
    wait(draft, news);
    return true;
  }
  const before =
    known?.entry.request ?? draft.view.requests.find(({ request_id }) => request_id === news.request_id);
  settle(draft, news, before);
  if (before !== undefined) addWait(draft, before, news, moment);
  if (known !== undefined) setRow(draft, known, withNews(known.entry.request, news));
  return known !== undefined;
}

/** What a sub-agent asks stands among what it does: where the tool call stands that it is about. */
function byAsker(draft: Draft, moment: Moment, { item_id }: RequestRow): Moment {
  const parent = item_id === undefined ? undefined : toolAt(draft, item_id)?.tool.parent;
  return parent === undefined ? moment : { ...moment, parent };
}

/** An expired request is told twice: when time was up, and when the agent has policy's answer. */
function addWait(draft: Draft, before: RequestRow, news: RequestNews, moment: Moment): void {
  const { request_id, item_id, requested_at_ms } = before;
  const untilMs = numberOf(news.resolved_at_ms) ?? moment.at_ms ?? requested_at_ms;
  const isOver = before.status !== "pending";
  setWaits(draft, (waits) => endWait(waits, request_id, untilMs));
  if (item_id !== undefined) judgeTool(draft, item_id, news, isOver ? 0 : untilMs - requested_at_ms);
}

/** All that waits now: what we took for waiting and is not in it waits no more. */
export function reduceRequests(draft: Draft, requests: readonly RequestRow[]): void {
  const waiting = requests.filter((row) => isRow(row) && row.status === "pending");
  const rows = new Map(waiting.map((row) => [row.request_id, row]));
  for (const before of draft.view.requests) {
    const now = rows.get(before.request_id);
    if (now !== undefined) rows.set(before.request_id, merged(before, now));
  }
  for (let index = draft.entries.length - 1; index >= 0; index -= 1) {
    const entry = draft.entries[index];
    if (entry?.kind !== "request") continue;
    const now = rows.get(entry.request.request_id);
    const { status } = entry.request;
    // A list that was made before it was asked did not have it, and the next one does.
    if (status !== "pending" && !(status === "withdrawn" && now !== undefined)) continue;
    const row: RequestRow =
      now === undefined ? { ...entry.request, status: "withdrawn" } : merged(entry.request, now);
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
  draft.view.requests = [...others, known === undefined ? row : merged(known, row)].sort(byAge);
  draft.hasChanged = true;
  markTool(draft, row);
}

function settle(draft: Draft, { request_id }: RequestNews, before: RequestRow | undefined): void {
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
  // Made by who knows the files, so it is closer than what the input alone tells.
  setChanges(draft, item_id, payload.changes);
}

function setWaits({ view }: Draft, change: (waits: WaitClock) => WaitClock): void {
  if (view.turn !== undefined) view.turn = { ...view.turn, waits: change(view.turn.waits ?? NO_WAIT) };
}

function isAsked({ view }: Draft, id: string): boolean {
  return view.requests.some(({ item_id }) => item_id === id);
}

/** What is known of it whole stays whole when a list gives it cut. */
function merged(before: RequestRow, now: RequestRow): RequestRow {
  if (now.is_cut !== true || before.is_cut === true || before.shown_hash !== now.shown_hash)
    return { ...before, ...now };
  const { is_cut: _cut, ...rest } = now;
  return { ...before, ...rest, payload: before.payload };
}

/** What was asked is not told again. */
function withNews(before: RequestRow, news: RequestNews): RequestRow {
  return { ...before, ...news, payload: before.payload };
}

function setRow(draft: Draft, { at, entry }: Place, request: RequestRow): void {
  replace(draft, at, { ...entry, request });
}

interface Place {
  at: number;
  entry: RequestEntry;
}

function entryOf({ entries, view }: Draft, request_id: string): Place | undefined {
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
