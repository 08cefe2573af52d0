// The table `sessions`: rows as JSON, plus the columns used in queries. `last_seq` comes from the log; the column matters
// only for a session without frames.

import type { Database, Statement } from "../../base/sqlite/database.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { withMark } from "../seq-marks.ts";

const LOG_SEQ =
  "(SELECT b.last_seq FROM batches b WHERE b.session_id = s.session_id ORDER BY b.first_seq DESC LIMIT 1) AS log_seq";

interface Found {
  row: string;
  log_seq: number | null;
}

export class Sessions {
  readonly #save: Statement;
  readonly #load: Statement;
  readonly #all: Statement;
  readonly #seq: Statement;
  readonly #text: Statement;
  readonly #delete: Statement;
  readonly #getMark: (session_id: string) => number;

  /** `getMark` returns the highest seq given out, whatever the log has. */
  constructor(db: Database, getMark: (session_id: string) => number = () => 0) {
    this.#getMark = getMark;
    this.#save = db.prepare(
      "INSERT OR REPLACE INTO sessions (session_id, backend, last_active_at_ms, last_seq, row) VALUES (?, ?, ?, ?, ?)",
    );
    this.#load = db.prepare(`SELECT row, ${LOG_SEQ} FROM sessions s WHERE session_id = ?`);
    this.#all = db.prepare(
      `SELECT row, ${LOG_SEQ} FROM sessions s ORDER BY last_active_at_ms DESC, session_id`,
    );
    this.#seq = db.prepare("SELECT last_seq FROM sessions WHERE session_id = ?");
    this.#text = db.prepare("SELECT row FROM sessions WHERE session_id = ?");
    this.#delete = db.prepare("DELETE FROM sessions WHERE session_id = ?");
  }

  save(row: SessionRow): void {
    this.#save.run(row.session_id, row.backend, row.last_active_at_ms, row.last_seq, JSON.stringify(row));
  }

  load(session_id: string): SessionRow | undefined {
    const found = this.#load.get(session_id);
    return found === undefined ? undefined : this.#toRow(found as unknown as Found);
  }

  all(): SessionRow[] {
    return this.#all.all().map((found) => this.#toRow(found as unknown as Found));
  }

  lastSeq(session_id: string): number {
    return (this.#seq.get(session_id) as { last_seq: number } | undefined)?.last_seq ?? 0;
  }

  /** The saved JSON. */
  text(session_id: string): string | undefined {
    return (this.#text.get(session_id) as { row: string } | undefined)?.row;
  }

  delete(session_id: string): void {
    this.#delete.run(session_id);
  }

  /** Trusts the JSON: only `save` writes it, and the table checks that it is valid. */
  #toRow(found: Found): SessionRow {
    const row = JSON.parse(found.row) as SessionRow;
    const mark = this.#getMark(row.session_id);
    if (found.log_seq === null) return withMark(row, undefined, mark);
    return withMark({ ...row, last_seq: found.log_seq }, found.log_seq, mark);
  }
}
