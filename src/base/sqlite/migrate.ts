// Migrates a database to this program's schema in numbered steps; `user_version` is the number of steps done.
import { CodedError } from "../coded-error.ts";
import { type Database, runInTransaction } from "./database.ts";

/** Step n brings the schema from version n to n + 1. */
export function runMigrations(db: Database, migrations: readonly string[]): void {
  const found = userVersion(db);
  if (found > migrations.length) {
    throw new CodedError(
      "internal",
      `the database has schema version ${found}, but this program supports only ${migrations.length}; install a newer blemees, or use another --state-dir`,
    );
  }
  for (const [at, sql] of migrations.entries()) {
    if (at < found) continue;
    runInTransaction(db, () => {
      db.exec(sql);
      db.exec(`PRAGMA user_version=${at + 1}`);
    });
  }
}

function userVersion(db: Database): number {
  const row = db.prepare("PRAGMA user_version").get() as { user_version: number };
  return row.user_version;
}
