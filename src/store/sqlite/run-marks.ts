// The table `run_marks`: how far each session has consumed the output of its agent's run. Callers open the transaction.

import type { RunMark } from "../../base/runs/mark.ts";
import type { Database, Statement } from "../../base/sqlite/database.ts";
import type { SessionRunMark } from "../types.ts";

export class RunMarks {
  readonly #save: Statement;
  readonly #find: Statement;
  readonly #delete: Statement;

  constructor(db: Database) {
    this.#save = db.prepare("INSERT OR REPLACE INTO run_marks VALUES (?, ?, ?, ?, ?)");
    this.#find = db.prepare(
      `SELECT session_id, run_id, out_offset AS out, err_offset AS err, last_entry AS n
       FROM run_marks WHERE session_id IN (SELECT value FROM json_each(?)) ORDER BY session_id`,
    );
    this.#delete = db.prepare("DELETE FROM run_marks WHERE session_id = ?");
  }

  save(session_id: string, { run_id, out, err, n }: RunMark): void {
    this.#save.run(session_id, run_id, out, err, n);
  }

  find(session_ids: readonly string[]): SessionRunMark[] {
    return this.#find.all(JSON.stringify(session_ids)) as unknown as SessionRunMark[];
  }

  delete(session_id: string): void {
    this.#delete.run(session_id);
  }
}
