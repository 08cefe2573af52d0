// The schema of observability.db, as numbered steps (released steps are never edited), and its columns.
import type { Database } from "../base/sqlite/database.ts";
import { runMigrations } from "../base/sqlite/migrate.ts";
import type { EventRow } from "./rows.ts";
import type { ToolEvent, TurnEvent } from "./types.ts";

export const TABLES = { tool: "tool_events", turn: "turn_events" } as const satisfies Record<
  EventRow["kind"],
  string
>;

export const TOOL_COLUMNS = [
  "session_id",
  "source_provider",
  "thread_id",
  "turn_id",
  "item_id",
  "request_id",
  "event_type",
  "item_type",
  "phase",
  "tool_name",
  "command",
  "cwd",
  "exit_code",
  "file_path",
  "change_kind",
  "diff_summary",
  "approval_decision",
  "latency_ms",
  "final_status",
  "not_run",
  "error_code",
  "error_message",
  "raw_payload_json",
  "created_at_ms",
] as const satisfies (keyof ToolEvent)[];

export const TURN_COLUMNS = [
  "session_id",
  "source_provider",
  "thread_id",
  "turn_id",
  "event_type",
  "origin",
  "duration_ms",
  "waited_ms",
  "time_to_first_token_ms",
  "input_tokens",
  "output_tokens",
  "cost_usd",
  "final_status",
  "error_code",
  "error_message",
  "raw_payload_json",
  "created_at_ms",
  "root_session_id",
  "parent_session_id",
  "model",
] as const satisfies (keyof TurnEvent)[];

/** Conditions of the rows used for statistics; must match their indices. */
export const TURN_ROWS = "event_type <> 'message'";
export const CALL_ROWS = "request_id IS NULL AND event_type <> 'output_delta'";
export const REQUEST_ROWS = "request_id IS NOT NULL";

const CREATED_AT = "strftime('%Y-%m-%dT%H:%M:%fZ', created_at_ms / 1000.0, 'unixepoch') AS created_at";

/** What turns used: first of those whose rows are still there. */
const TURN_USAGE = `
  CREATE TABLE turn_usage (
    ended_at_ms INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    project TEXT,
    duration_ms INTEGER,
    waited_ms INTEGER,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL,
    PRIMARY KEY (ended_at_ms, session_id, turn_id)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX turn_usage_by_turn ON turn_usage (session_id, turn_id);
  INSERT OR IGNORE INTO turn_usage
  WITH ended AS (
    SELECT *, CASE WHEN source_provider LIKE 'codex%' THEN 'codex' ELSE source_provider END AS agent,
      CASE WHEN json_valid(raw_payload_json) THEN raw_payload_json ELSE '{}' END AS payload
    FROM turn_events WHERE event_type NOT IN ('started', 'message')
  ), counted AS (
    SELECT *, CAST(json_extract(payload, '$.usage.cache_read_input_tokens') AS INTEGER) AS cached,
      CAST(json_extract(payload, '$.usage.cache_creation_input_tokens') AS INTEGER) AS written FROM ended
  )
  SELECT created_at_ms, session_id, coalesce(turn_id, 'at ' || created_at_ms), agent, NULL, duration_ms, waited_ms,
    CASE agent WHEN 'codex' THEN max(0, input_tokens - coalesce(cached, 0)) ELSE input_tokens + coalesce(written, 0) END,
    cached, output_tokens, cost_usd
  FROM counted;`;

/** The views show rows of the Codex app-server under the names that session managers use. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE tool_events (
     id INTEGER PRIMARY KEY,
     session_id TEXT NOT NULL,
     source_provider TEXT NOT NULL,
     thread_id TEXT,
     turn_id TEXT,
     item_id TEXT,
     request_id TEXT,
     event_type TEXT NOT NULL,
     item_type TEXT NOT NULL,
     phase TEXT NOT NULL,
     tool_name TEXT,
     command TEXT,
     cwd TEXT,
     exit_code INTEGER,
     file_path TEXT,
     diff_summary TEXT,
     approval_decision TEXT,
     latency_ms INTEGER,
     final_status TEXT,
     error_code TEXT,
     error_message TEXT,
     raw_payload_json TEXT,
     created_at_ms INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX tool_events_by_session ON tool_events (session_id, id);
   CREATE INDEX tool_events_by_age ON tool_events (created_at_ms);
   CREATE TABLE turn_events (
     id INTEGER PRIMARY KEY,
     session_id TEXT NOT NULL,
     source_provider TEXT NOT NULL,
     thread_id TEXT,
     turn_id TEXT,
     event_type TEXT NOT NULL,
     origin TEXT,
     duration_ms INTEGER,
     time_to_first_token_ms INTEGER,
     input_tokens INTEGER,
     output_tokens INTEGER,
     cost_usd REAL,
     final_status TEXT,
     error_code TEXT,
     error_message TEXT,
     raw_payload_json TEXT,
     created_at_ms INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX turn_events_by_session ON turn_events (session_id, id);
   CREATE INDEX turn_events_by_age ON turn_events (created_at_ms);
   CREATE VIEW codex_tool_events AS SELECT
     session_id, thread_id, turn_id, item_id, request_id, event_type, item_type, phase, command, cwd, exit_code,
     file_path, diff_summary, approval_decision, latency_ms, final_status, error_code, error_message,
     raw_payload_json, ${CREATED_AT}
   FROM tool_events WHERE source_provider = 'codex-app';
   CREATE VIEW codex_turn_events AS SELECT
     session_id, thread_id, turn_id, event_type, origin, duration_ms, time_to_first_token_ms, input_tokens,
     output_tokens, cost_usd, final_status, error_code, error_message, raw_payload_json, ${CREATED_AT}
   FROM turn_events WHERE source_provider = 'codex-app';`,
  `CREATE INDEX turn_stats ON turn_events (created_at_ms) WHERE ${TURN_ROWS};
   CREATE INDEX call_stats ON tool_events (created_at_ms) WHERE ${CALL_ROWS};
   CREATE INDEX request_stats ON tool_events (created_at_ms) WHERE ${REQUEST_ROWS};`,
  `ALTER TABLE tool_events ADD COLUMN change_kind TEXT;
   ALTER TABLE tool_events ADD COLUMN not_run TEXT;
   ALTER TABLE turn_events ADD COLUMN waited_ms INTEGER;`,
  TURN_USAGE,
  `ALTER TABLE turn_events ADD COLUMN root_session_id TEXT;
   ALTER TABLE turn_events ADD COLUMN parent_session_id TEXT;
   ALTER TABLE turn_events ADD COLUMN model TEXT;
   CREATE TABLE export_cursor (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), sent INTEGER NOT NULL) STRICT;`,
];

export function migrate(db: Database): void {
  runMigrations(db, MIGRATIONS);
}
