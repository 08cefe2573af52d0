// Reads the rows used for statistics: the newest start and end rows, without messages and output.

import type { Database } from "../base/sqlite/database.ts";
import { omitNulls } from "../base/values.ts";
import type { EventRow } from "./rows.ts";
import { CALL_ROWS, REQUEST_ROWS, TURN_ROWS } from "./schema.ts";
import type { StatsQuery } from "./types.ts";

const COMMON = "session_id, source_provider, turn_id, event_type, created_at_ms";
const KINDS = [
  {
    kind: "turn",
    from: "turn_events",
    index: "turn_stats",
    where: TURN_ROWS,
    columns: `${COMMON}, duration_ms, time_to_first_token_ms, input_tokens, output_tokens, cost_usd`,
  },
  {
    kind: "tool",
    from: "tool_events",
    index: "call_stats",
    where: CALL_ROWS,
    columns: `${COMMON}, item_id, item_type, phase, tool_name, latency_ms`,
  },
  {
    kind: "tool",
    from: "tool_events",
    index: "request_stats",
    where: REQUEST_ROWS,
    columns: `${COMMON}, item_id, request_id, item_type, phase, approval_decision, latency_ms`,
  },
] as const;
/** A start and an end. */
const ROWS_EACH = 2;

/** Reads enough rows of each kind for one more than `limit`, to see whether there are more. */
export function readStatRows(db: Database, { since_ms, session_id, limit }: StatsQuery): EventRow[] {
  const own = session_id === undefined ? "" : "AND session_id = ?";
  // One session's rows are indexed by id; all sessions' rows by time.
  const order = session_id === undefined ? "created_at_ms" : "id";
  const values = [since_ms, ...(session_id === undefined ? [] : [session_id]), ROWS_EACH * (limit + 1)];
  return KINDS.flatMap(({ kind, from, index, where, columns }) => {
    // Named explicitly: SQLite does not choose the partial index by itself.
    const by = session_id === undefined ? index : `${from}_by_session`;
    const sql = `SELECT ${columns} FROM ${from} INDEXED BY ${by} WHERE ${where} AND created_at_ms >= ? ${own} ORDER BY ${order} DESC LIMIT ?`;
    const found = db.prepare(sql).all(...values) as Record<string, unknown>[];
    return found.map((row) => ({ kind, row: omitNulls(row) }) as unknown as EventRow);
  });
}
