// The ledger's rules that every driver shares: which rows are open, which a filter means, in which order, and which
// are too old. Pure. `isOpen` is `isSettled` of protocol/requests.ts without zod, whose loading costs the store thread
// 70 ms and 11 MB; a test holds them equal.
import type { RequestRow } from "../protocol/requests.ts";
import type { RequestFilter, Retention } from "./types.ts";

export function isOpen(row: RequestRow): boolean {
  if (row.status === "resolved") return row.dispatched_at_ms === undefined;
  return row.status === "pending" || row.status === "expired";
}

export function isMeant(row: RequestRow, { session_id, open }: RequestFilter): boolean {
  return (session_id === undefined || row.session_id === session_id) && (open !== true || isOpen(row));
}

/** Where a row stands in the order of all. */
export type Place = NonNullable<RequestFilter["after"]>;

/** The part of them that a filter asks for, in order. */
export function pageOf<T extends Place>(rows: T[], { after, limit }: RequestFilter): T[] {
  const behind = after === undefined ? rows : rows.filter((row) => byAge(row, after) > 0);
  return behind.toSorted(byAge).slice(0, limit);
}

/** Oldest first. */
export function byAge(a: Place, b: Place): number {
  if (a.requested_at_ms !== b.requested_at_ms) return a.requested_at_ms - b.requested_at_ms;
  return a.request_id < b.request_id ? -1 : Number(a.request_id > b.request_id);
}

/** Rows older than this go when they are settled; undefined when there is no limit. */
export function oldestKept({ maxAgeMs }: Retention, nowMs: number): number | undefined {
  return maxAgeMs > 0 ? nowMs - maxAgeMs : undefined;
}

/** The rows with `changed` put in, each in the place of the one with its id. */
export function upsert(rows: RequestRow[], changed: RequestRow[]): RequestRow[] {
  const byId = new Map(rows.map((row) => [row.request_id, row]));
  for (const row of changed) byId.set(row.request_id, row);
  return [...byId.values()];
}
