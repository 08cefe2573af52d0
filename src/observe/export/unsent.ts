// Which rows a collector has not got yet: those after a cursor, which is in the same database. Runs in the worker thread.
import type { Database } from "../../base/sqlite/database.ts";
import { omitNulls } from "../../base/values.ts";
import { TOOL_COLUMNS, TURN_COLUMNS } from "../schema.ts";
import type { ToolRow, TurnRow } from "./spans.ts";

type Stored = { id: number } & Record<string, unknown>;

export interface Unsent {
  rows: (TurnRow | ToolRow)[];
  /** After these rows. */
  cursor: number;
  hasMore: boolean;
}

const ENDED_TURN = "turn_id IS NOT NULL AND event_type NOT IN ('started', 'message')";
const ENDED_CALL = "item_id IS NOT NULL AND request_id IS NULL AND phase = 'post'";

/** The first time nothing is unsent: older history is not sent. */
export function readUnsent(db: Database, { limit, lastId }: { limit: number; lastId: number }): Unsent {
  const found = db.prepare("SELECT sent FROM export_cursor").get() as { sent: number } | undefined;
  if (found === undefined) markSent(db, lastId);
  const after = found?.sent ?? lastId;
  const read = (table: string, columns: readonly string[], where: string): Stored[] =>
    db
      .prepare(`SELECT id, ${columns.join(", ")} FROM ${table} WHERE id > ? AND ${where} ORDER BY id LIMIT ?`)
      .all(after, limit + 1) as Stored[];
  const all = [
    ...read("turn_events", TURN_COLUMNS, ENDED_TURN).map((row) => ({ kind: "turn" as const, row })),
    ...read("tool_events", TOOL_COLUMNS, ENDED_CALL).map((row) => ({ kind: "tool" as const, row })),
  ].sort((a, b) => a.row.id - b.row.id);
  const kept = all.slice(0, limit);
  return {
    rows: kept.map(({ kind, row }) => (kind === "turn" ? toTurn(db, row) : toTool(db, row))),
    cursor: all.length > limit ? (kept.at(-1)?.row.id ?? after) : lastId,
    hasMore: all.length > limit,
  };
}

export function markSent(db: Database, cursor: number): void {
  db.prepare(
    "INSERT INTO export_cursor (only_row, sent) VALUES (1, ?1) ON CONFLICT (only_row) DO UPDATE SET sent = max(sent, ?1)",
  ).run(cursor);
}

function toTurn(db: Database, { id, ...columns }: Stored): TurnRow {
  const row = omitNulls(columns) as unknown as TurnRow["row"];
  const { session_id, turn_id, created_at_ms, duration_ms = 0 } = row;
  const begun = db
    .prepare(
      "SELECT created_at_ms FROM turn_events WHERE session_id = ? AND turn_id = ? AND event_type = 'started'",
    )
    .get(session_id, turn_id) as { created_at_ms: number } | undefined;
  const earlier = db
    .prepare(`SELECT 1 FROM turn_events WHERE session_id = ? AND id < ? AND ${ENDED_TURN} LIMIT 1`)
    .get(session_id, id);
  const started_at_ms = begun?.created_at_ms ?? created_at_ms - duration_ms;
  return {
    kind: "turn",
    session: findSession(db, session_id),
    row,
    started_at_ms,
    isFirst: earlier === undefined,
  };
}

function toTool(db: Database, { id: _id, ...columns }: Stored): ToolRow {
  const row = omitNulls(columns) as unknown as ToolRow["row"];
  return { kind: "tool", session: findSession(db, row.session_id), row };
}

/** Every turn has noted where its session belongs. */
function findSession(db: Database, session_id: string): TurnRow["session"] {
  const found = db
    .prepare(
      `SELECT root_session_id, parent_session_id, model FROM turn_events WHERE session_id = ? ORDER BY id DESC LIMIT 1`,
    )
    .get(session_id);
  return { session_id, ...omitNulls((found ?? {}) as Record<string, unknown>) };
}
