// The seq marks of earlier runs of the daemon, in a database of their own: they are needed when the log is damaged or lost.
// Each start adds those of the last run (seq-marks.ts), and looks up the others when a session is read.
import {
  closeDatabase,
  type Database,
  openDatabase,
  runInTransaction,
  type Statement,
} from "../../base/sqlite/database.ts";
import { runMigrations } from "../../base/sqlite/migrate.ts";
import type { DriverOptions } from "../types.ts";

const MIGRATIONS: readonly string[] = [
  "CREATE TABLE marks (session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

export class MarkTable {
  readonly #db: Database;
  readonly #get: Statement;
  readonly #delete: Statement;

  static async open(path: string, { now, onRecovery }: DriverOptions): Promise<MarkTable> {
    const prepare = (db: Database) => runMigrations(db, MIGRATIONS);
    return new MarkTable(await openDatabase({ path, prepare, now, onRecovery }));
  }

  private constructor(db: Database) {
    this.#db = db;
    this.#get = db.prepare("SELECT seq FROM marks WHERE session_id = ?");
    this.#delete = db.prepare("DELETE FROM marks WHERE session_id = ?");
  }

  /** 0 if unknown. */
  get(session_id: string): number {
    return (this.#get.get(session_id) as { seq: number } | undefined)?.seq ?? 0;
  }

  /** Synced: the caller may then remove them elsewhere. */
  take(marks: ReadonlyMap<string, number>): void {
    if (marks.size === 0) return;
    const save = this.#db.prepare(
      "INSERT INTO marks VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET seq = max(seq, excluded.seq)",
    );
    this.#db.exec("PRAGMA synchronous=FULL");
    runInTransaction(this.#db, () => {
      for (const [session_id, seq] of marks) save.run(session_id, seq);
    });
    this.#db.exec("PRAGMA synchronous=NORMAL");
  }

  delete(session_id: string): void {
    this.#delete.run(session_id);
  }

  close(): void {
    closeDatabase(this.#db);
  }
}
