// The table `exports`: how far the JSONL files of each directory are written and synced.
import type { Database, Statement } from "../../base/sqlite/database.ts";

/** What a session's log file holds. */
export interface Place {
  first_seq: number;
  last_seq: number;
  bytes: number;
}

export const EMPTY: Readonly<Place> = { first_seq: 0, last_seq: 0, bytes: 0 };

/** `bytes` of a session that was deleted and whose files remain to be removed. */
export const REMOVED = -1;

export class Exports {
  readonly #dir: string;
  readonly #load: Statement;
  readonly #save: Statement;
  readonly #forget: Statement;
  readonly #sessions: Statement;

  constructor(db: Database, dir: string) {
    this.#dir = dir;
    this.#load = db.prepare(
      "SELECT first_seq, last_seq, bytes FROM exports WHERE session_id = ? AND dir = ?",
    );
    this.#save = db.prepare("INSERT OR REPLACE INTO exports VALUES (?, ?, ?, ?, ?)");
    this.#forget = db.prepare("DELETE FROM exports WHERE session_id = ? AND dir = ?");
    this.#sessions = db.prepare(
      "SELECT session_id FROM sessions UNION SELECT session_id FROM exports WHERE dir = ?",
    );
  }

  load(session_id: string): Place | undefined {
    return this.#load.get(session_id, this.#dir) as Place | undefined;
  }

  save(session_id: string, { first_seq, last_seq, bytes }: Place): void {
    this.#save.run(session_id, this.#dir, first_seq, last_seq, bytes);
  }

  forget(session_id: string): void {
    this.#forget.run(session_id, this.#dir);
  }

  /** All sessions that have, or should have, files. */
  sessions(): string[] {
    return this.#sessions.all(this.#dir).map((found) => (found as { session_id: string }).session_id);
  }
}
