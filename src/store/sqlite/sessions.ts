// The table `sessions`: rows as JSON, plus the columns used in queries. `last_seq` comes from the log; the column matters
// only for a session without frames.

import type { Database, Statement } from "../../base/sqlite/database.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { withMark } from "../seq-marks.ts";
import type { Kin, RowFilter } from "../types.ts";
import { NEWEST_FIRST, toRowQuery } from "./session-query.ts";

const LOG_SEQ =
  "(SELECT b.last_seq FROM batches b WHERE b.session_id = s.session_id ORDER BY b.first_seq DESC LIMIT 1) AS log_seq";

/** Columns that rarely change; in the order of `save`. */
const FIXED = [
  "session_id",
  "backend",
  "started_at_ms",
  "cwd",
  "name",
  "parent",
  "spawn_key",
  "native_session_id",
] as const;
const SAME = FIXED.map((name) => (name === "session_id" ? "session_id = ?" : `${name} IS ?`)).join(" AND ");

interface Found {
  row: string;
  log_seq: number | null;
}

export class Sessions {
  readonly #db: Database;
  #saves: { change: Statement; replace: Statement } | undefined;
  readonly #load: Statement;
  readonly #seq: Statement;
  readonly #text: Statement;
  readonly #delete: Statement;
  readonly #getMark: (session_id: string) => number;

  /** `getMark` returns the highest seq given out, whatever the log has. */
  constructor(db: Database, getMark: (session_id: string) => number = () => 0) {
    this.#db = db;
    this.#getMark = getMark;
    this.#load = db.prepare(`SELECT row, ${LOG_SEQ} FROM sessions s WHERE session_id = ?`);
    this.#seq = db.prepare("SELECT last_seq FROM sessions WHERE session_id = ?");
    this.#text = db.prepare("SELECT row FROM sessions WHERE session_id = ?");
    this.#delete = db.prepare("DELETE FROM sessions WHERE session_id = ?");
  }

  save(row: SessionRow): void {
    this.#saves ??= {
      change: this.#db.prepare(
        `UPDATE sessions SET last_active_at_ms = ?, last_seq = ?, is_unfinished = ?, row = ? WHERE ${SAME}`,
      ),
      replace: this.#db.prepare(
        `INSERT OR REPLACE INTO sessions (last_active_at_ms, last_seq, is_unfinished, row, ${FIXED.join(", ")})
         VALUES (?, ?, ?, ?, ${FIXED.map(() => "?").join(", ")})`,
      ),
    };
    const { last_active_at_ms, last_seq } = row;
    const values = [
      ...[last_active_at_ms, last_seq, Number(isUnfinished(row)), JSON.stringify(row)],
      ...[
        row.session_id,
        row.backend,
        row.started_at_ms,
        row.cwd ?? null,
        row.name ?? null,
        row.parent ?? null,
      ],
      ...[row.spawn?.key ?? null, row.native_session_id ?? null],
    ];
    // A row changes several times per turn, but rarely in these columns, and then their indices are not touched.
    if (this.#saves.change.run(...values).changes === 0) this.#saves.replace.run(...values);
  }

  load(session_id: string): SessionRow | undefined {
    const found = this.#load.get(session_id);
    return found === undefined ? undefined : this.#toRow(found as unknown as Found);
  }

  find(filter: RowFilter = {}): SessionRow[] {
    const { from, values } = toRowQuery(filter);
    return this.#db
      .prepare(`SELECT row, ${LOG_SEQ} FROM ${from} ${NEWEST_FIRST} LIMIT ?`)
      .all(...values, filter.limit ?? -1)
      .map((found) => this.#toRow(found as unknown as Found));
  }

  /** By backend. */
  count(): Record<string, number> {
    const found = this.#db
      .prepare("SELECT backend, count(*) AS n FROM sessions INDEXED BY sessions_by_activity GROUP BY backend")
      .all() as { backend: string; n: number }[];
    return Object.fromEntries(found.map(({ backend, n }) => [backend, n]));
  }

  kin(session_ids: readonly string[]): Kin[] {
    const parent = this.#db.prepare(
      `SELECT above.session_id FROM sessions own JOIN sessions above ON above.session_id = own.parent
       WHERE own.session_id = ?`,
    );
    const children = this.#db.prepare(
      `SELECT session_id FROM sessions INDEXED BY sessions_by_parent WHERE parent = ?
       ORDER BY started_at_ms, session_id`,
    );
    return session_ids.map((session_id) => {
      const line = new Set([session_id]);
      for (let next: string | undefined = session_id; next !== undefined; ) {
        const found = parent.get(next) as { session_id: string } | undefined;
        next = found === undefined || line.has(found.session_id) ? undefined : found.session_id;
        if (next !== undefined) line.add(next);
      }
      const below = children.all(session_id) as { session_id: string }[];
      return { above: [...line].slice(1), children: below.map((child) => child.session_id) };
    });
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

/** Work that a daemon has left. */
function isUnfinished({ turn, lost_after, queue = [], wakes = [] }: SessionRow): boolean {
  return turn !== undefined || lost_after !== undefined || queue.length > 0 || wakes.length > 0;
}
