// Rules of the request ledger that all stores share: open rows, filters, order and age. Pure. `isOpen` repeats `isSettled`
// of protocol/requests.ts without zod, which costs the store thread 70 ms and 11 MB; a test keeps them equal.
import type { RequestRow } from "../protocol/requests.ts";
import type { RequestFilter, Retention, RuleUses } from "./types.ts";

export function isOpen(row: RequestRow): boolean {
  if (row.status === "resolved") return row.dispatched_at_ms === undefined;
  return row.status === "pending" || row.status === "expired";
}

export function matchesFilter(row: RequestRow, { session_id, open }: RequestFilter): boolean {
  return (session_id === undefined || row.session_id === session_id) && (open !== true || isOpen(row));
}

/** A row's position in the order of all rows. */
export type RequestPosition = NonNullable<RequestFilter["after"]>;

/** Sorts the rows and selects the page that the filter asks for. */
export function selectPage<T extends RequestPosition>(
  rows: T[],
  { after, limit, newest }: RequestFilter,
): T[] {
  if (newest === true) return rows.toSorted((a, b) => compareAge(b, a)).slice(0, limit);
  const later = after === undefined ? rows : rows.filter((row) => compareAge(row, after) > 0);
  return later.toSorted(compareAge).slice(0, limit);
}

/** Oldest first. */
export function compareAge(a: RequestPosition, b: RequestPosition): number {
  if (a.requested_at_ms !== b.requested_at_ms) return a.requested_at_ms - b.requested_at_ms;
  return a.request_id < b.request_id ? -1 : Number(a.request_id > b.request_id);
}

/** Counts the use of a rule when a row gets its `rule_id`. `before`: the row as stored so far. */
export function countUse(
  uses: Map<string, RuleUses>,
  { rule_id, resolved_at_ms = 0 }: RequestRow,
  before: RequestRow | undefined,
): void {
  if (rule_id === undefined || before?.rule_id !== undefined) return;
  const known = uses.get(rule_id)?.uses ?? 0;
  uses.set(rule_id, { rule_id, uses: known + 1, last_used_at_ms: resolved_at_ms });
}

/** Settled rows older than this are pruned; undefined if there is no limit. */
export function findCutoff({ maxAgeMs }: Retention, nowMs: number): number | undefined {
  return maxAgeMs > 0 ? nowMs - maxAgeMs : undefined;
}
