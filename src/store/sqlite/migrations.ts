// The schema, as numbered steps. A step that was released is never edited; `user_version` says how many ran.
import { CodedError } from "../../base/coded-error.ts";
import { type Database, inTransaction } from "./database.ts";

/** Step n brings the schema from version n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  // One row a batch. A rowid table with its own index: WITHOUT ROWID took four times as long for small batches
  // and 1.3 times for 30 KB ones (DESIGN §7 wants 2-2.5 µs an event). The blob stands last, so that reading the
  // other columns touches none of its pages.
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
  // One row: how far the journal's records are stored here.
  `CREATE TABLE journal (n INTEGER NOT NULL, "offset" INTEGER NOT NULL) STRICT;
   INSERT INTO journal VALUES (1, 0);`,
];

export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  const found = userVersion(db);
  if (found > migrations.length) {
    throw new CodedError(
      "internal",
      `the database has schema version ${found} and this program knows ${migrations.length}; install the newer blemees, or give this one another XDG_STATE_HOME`,
    );
  }
  for (const [at, sql] of migrations.entries()) {
    if (at < found) continue;
    inTransaction(db, () => {
      db.exec(sql);
      db.exec(`PRAGMA user_version=${at + 1}`);
    });
  }
}

function userVersion(db: Database): number {
  const row = db.prepare("PRAGMA user_version").get() as { user_version: number };
  return row.user_version;
}
