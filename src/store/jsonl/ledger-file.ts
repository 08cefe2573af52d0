// What stands in `<id>.requests.json`, and what of it can be used when somebody damaged it.
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { isRequestRow } from "./request-check.ts";

export interface LedgerFile {
  rows: RequestRow[];
  /** Rows that stand in the place of those above once the log ends with `last_seq` or behind it. */
  next?: { last_seq: number; rows: RequestRow[] };
}

/** The rows that are good, and whether all were. */
export function parseLedger(value: unknown, session_id: string): { file: LedgerFile; isWhole: boolean } {
  if (!isObject(value)) return { file: { rows: [] }, isWhole: false };
  const { rows, next } = value;
  const found = goodRows(rows, session_id);
  if (next === undefined) return { file: { rows: found.rows }, isWhole: found.isWhole };
  if (!isObject(next) || typeof next["last_seq"] !== "number") return { file: found, isWhole: false };
  const newer = goodRows(next["rows"], session_id);
  return {
    file: { rows: found.rows, next: { last_seq: next["last_seq"], rows: newer.rows } },
    isWhole: found.isWhole && newer.isWhole,
  };
}

/** Some row in front has an answer that a row of `next` no longer shows: it may be a secret. */
export function hidesAnswer({ rows, next }: LedgerFile): boolean {
  return next !== undefined && replacesAnswer(rows, next.rows);
}

export function replacesAnswer(rows: RequestRow[], changed: RequestRow[]): boolean {
  const answered = rows.filter((row) => row.answer !== undefined);
  if (answered.length === 0) return false;
  const ids = new Set(changed.map(({ request_id }) => request_id));
  return answered.some(({ request_id }) => ids.has(request_id));
}

/** A file system that ignores case gives two ids one file; the other session's rows are not ours to touch. */
export function isTwin(row: RequestRow, session_id: string): boolean {
  return row.session_id !== session_id && row.session_id.toLowerCase() === session_id.toLowerCase();
}

function goodRows(value: unknown, session_id: string): { rows: RequestRow[]; isWhole: boolean } {
  if (!Array.isArray(value)) return { rows: [], isWhole: false };
  const known = value.filter(isRequestRow);
  const twin = known.find((row) => isTwin(row, session_id));
  if (twin !== undefined) {
    throw new CodedError(
      "internal",
      `the requests of ${session_id} are those of ${twin.session_id}; use ids that differ by more than case`,
    );
  }
  const rows = known.filter((row) => row.session_id === session_id);
  return { rows, isWhole: rows.length === value.length };
}
