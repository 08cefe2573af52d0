// The schema, as numbered steps. Released steps are never edited; `user_version` counts the steps that ran.
import type { Database } from "../../base/sqlite/database.ts";
import { runMigrations } from "../../base/sqlite/migrate.ts";

/** Step n brings the schema from version n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  // One row per batch. A rowid table with an index: WITHOUT ROWID took four times as long for small batches and 1.3 times
  // for 30 KB ones; the goal is 2-2.5 µs per event. The blob is last, so that reading other columns skips its pages.
  `CREATE TABLE batches (
     session_id TEXT NOT NULL,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     count INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     PRIMARY KEY (session_id, first_seq)
   ) STRICT;
   CREATE TABLE sessions (
     session_id TEXT PRIMARY KEY,
     backend TEXT NOT NULL,
     last_active_at_ms INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     row TEXT NOT NULL CHECK (json_valid(row))
   ) STRICT;
   CREATE INDEX sessions_by_activity ON sessions (last_active_at_ms);`,
  // One row: how far the journal is stored.
  `CREATE TABLE journal (n INTEGER NOT NULL, "offset" INTEGER NOT NULL) STRICT;
   INSERT INTO journal VALUES (1, 0);`,
  // The ledger. `is_open` means "not settled", which does not follow from the status alone. The view shows Codex requests
  // under the column names that its session managers use.
  `CREATE TABLE pending_requests (
     request_id TEXT PRIMARY KEY,
     session_id TEXT NOT NULL,
     status TEXT NOT NULL,
     is_open INTEGER NOT NULL,
     requested_at_ms INTEGER NOT NULL,
     row TEXT NOT NULL CHECK (json_valid(row))
   ) STRICT;
   CREATE INDEX pending_requests_by_session ON pending_requests (session_id, requested_at_ms, request_id);
   CREATE INDEX pending_requests_by_age ON pending_requests (is_open, requested_at_ms, request_id);
   CREATE VIEW codex_pending_requests AS SELECT
     request_id,
     session_id,
     json_extract(row, '$.thread_id') AS thread_id,
     json_extract(row, '$.turn_id') AS turn_id,
     json_extract(row, '$.item_id') AS item_id,
     json_extract(row, '$.request_type') AS request_type,
     ${toIsoTime("requested_at_ms")} AS requested_at,
     ${toIsoTime("expires_at_ms")} AS expires_at,
     status,
     json_extract(row, '$.payload') AS request_payload_json,
     json_extract(row, '$.answer') AS resolved_payload_json,
     ${toIsoTime("resolved_at_ms")} AS resolved_at,
     json_extract(row, '$.resolution_source') AS resolution_source,
     json_extract(row, '$.error_code') AS error_code,
     json_extract(row, '$.error_message') AS error_message,
     ${toIsoTime("dispatched_at_ms")} AS dispatched_at,
     json_extract(row, '$.path') AS request_path_json,
     json_extract(row, '$.shown_hash') AS shown_hash
   FROM pending_requests WHERE json_extract(row, '$.backend') = 'codex';`,
  // How far the JSONL files of a directory are written; `bytes` is -1 for files that remain to be removed.
  `CREATE TABLE exports (
     session_id TEXT NOT NULL,
     dir TEXT NOT NULL,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     PRIMARY KEY (session_id, dir)
   ) STRICT;`,
  // How far each session's stored frames cover the output files of its agent's run.
  `CREATE TABLE run_marks (
     session_id TEXT PRIMARY KEY,
     run_id TEXT NOT NULL,
     out_offset INTEGER NOT NULL,
     err_offset INTEGER NOT NULL,
     last_entry INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Lists, lookups and recovery read only the rows they need. The index by activity also has the columns that lists are
  // filtered by, so that rows are read only if they match.
  `ALTER TABLE sessions ADD COLUMN started_at_ms INTEGER;
   ALTER TABLE sessions ADD COLUMN cwd TEXT;
   ALTER TABLE sessions ADD COLUMN name TEXT;
   ALTER TABLE sessions ADD COLUMN parent TEXT;
   ALTER TABLE sessions ADD COLUMN spawn_key TEXT;
   ALTER TABLE sessions ADD COLUMN native_session_id TEXT;
   ALTER TABLE sessions ADD COLUMN is_unfinished INTEGER NOT NULL DEFAULT 0;
   UPDATE sessions SET
     started_at_ms = json_extract(row, '$.started_at_ms'),
     cwd = json_extract(row, '$.cwd'),
     name = json_extract(row, '$.name'),
     parent = json_extract(row, '$.parent'),
     spawn_key = json_extract(row, '$.spawn.key'),
     native_session_id = json_extract(row, '$.native_session_id'),
     is_unfinished = json_type(row, '$.turn') IS NOT NULL OR json_type(row, '$.lost_after') IS NOT NULL
       OR json_type(row, '$.queue[0]') IS NOT NULL OR json_type(row, '$.wakes[0]') IS NOT NULL;
   DROP INDEX sessions_by_activity;
   CREATE INDEX sessions_by_activity
     ON sessions (last_active_at_ms DESC, started_at_ms DESC, session_id, backend, cwd);
   CREATE INDEX sessions_by_name ON sessions (name) WHERE name IS NOT NULL;
   CREATE INDEX sessions_by_parent ON sessions (parent, started_at_ms, session_id) WHERE parent IS NOT NULL;
   CREATE INDEX sessions_by_spawn_key ON sessions (spawn_key) WHERE spawn_key IS NOT NULL;
   CREATE INDEX sessions_by_native_id ON sessions (native_session_id) WHERE native_session_id IS NOT NULL;
   CREATE INDEX sessions_unfinished ON sessions (session_id) WHERE is_unfinished = 1;`,
  // How often each policy rule has answered a request. Independent of the ledger's rows, which are pruned and deleted.
  `CREATE TABLE rule_uses (
     rule_id TEXT PRIMARY KEY,
     uses INTEGER NOT NULL,
     last_used_at_ms INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
];

/** SQL for a millisecond field of the row as 2026-01-31T23:59:59.123Z. */
function toIsoTime(field: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(row, '$.${field}') / 1000.0, 'unixepoch')`;
}

export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  runMigrations(db, migrations);
}
