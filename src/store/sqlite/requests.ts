// The table `pending_requests`: ledger rows as JSON, plus the columns used in queries. Callers open the transaction.

import type { Database, Statement } from "../../base/sqlite/database.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { isOpen } from "../ledger.ts";
import type { RequestFilter, RuleUses } from "../types.ts";

const SELECT = "SELECT row, requested_at_ms, request_id FROM pending_requests INDEXED BY";
const BY_SESSION = `${SELECT} pending_requests_by_session WHERE session_id = ?`;
const NEWEST_FIRST = "ORDER BY requested_at_ms DESC, request_id DESC LIMIT ?";
const OLDEST_FIRST = "ORDER BY requested_at_ms, request_id LIMIT ?";

export class Requests {
  readonly #db: Database;
  readonly #save: Statement;
  readonly #load: Statement;
  readonly #delete: Statement;
  /** Prepared on first use: most rows are answered by people. */
  #count: Statement | undefined;

  constructor(db: Database) {
    this.#db = db;
    this.#save = db.prepare(
      `INSERT INTO pending_requests (request_id, session_id, status, is_open, requested_at_ms, row)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (request_id) DO UPDATE SET session_id = excluded.session_id, status = excluded.status,
         is_open = excluded.is_open, requested_at_ms = excluded.requested_at_ms, row = excluded.row`,
    );
    this.#load = db.prepare("SELECT row FROM pending_requests WHERE request_id = ? AND session_id = ?");
    this.#delete = db.prepare("DELETE FROM pending_requests WHERE session_id = ?");
  }

  save(row: RequestRow): void {
    const { request_id, session_id, status, requested_at_ms } = row;
    this.#countUse(row);
    this.#save.run(request_id, session_id, status, Number(isOpen(row)), requested_at_ms, JSON.stringify(row));
  }

  /** Once per request, however often its row is stored. */
  #countUse({ request_id, session_id, rule_id, resolved_at_ms = 0 }: RequestRow): void {
    if (rule_id === undefined || this.load(session_id, request_id)?.rule_id !== undefined) return;
    this.#count ??= this.#db.prepare(
      `INSERT INTO rule_uses (rule_id, uses, last_used_at_ms) VALUES (?, 1, ?)
       ON CONFLICT (rule_id) DO UPDATE SET uses = uses + 1, last_used_at_ms = excluded.last_used_at_ms`,
    );
    this.#count.run(rule_id, resolved_at_ms);
  }

  ruleUses(): RuleUses[] {
    const sql = "SELECT rule_id, uses, last_used_at_ms FROM rule_uses ORDER BY rule_id";
    return this.#db.prepare(sql).all() as unknown as RuleUses[];
  }

  load(session_id: string, request_id: string): RequestRow | undefined {
    const found = this.#load.get(request_id, session_id);
    return found === undefined ? undefined : toRow(found);
  }

  find(filter: RequestFilter): RequestRow[] {
    const { sql, values } = toQuery(filter);
    return this.#db
      .prepare(sql)
      .all(...values)
      .map(toRow);
  }

  /** Removes older settled rows. */
  prune(beforeMs: number): void {
    this.#db.prepare("DELETE FROM pending_requests WHERE is_open = 0 AND requested_at_ms < ?").run(beforeMs);
  }

  delete(session_id: string): void {
    this.#delete.run(session_id);
  }
}

/** Every query walks an index, from the start of the page to its end and no further. */
export function toQuery({ session_id, open, after, limit = -1, newest }: RequestFilter): {
  sql: string;
  values: (string | number)[];
} {
  const place = after === undefined ? [] : [after.requested_at_ms, after.request_id];
  const later = after === undefined ? "" : "AND (requested_at_ms, request_id) > (?, ?)";
  if (open === true) {
    // Not by session: a session may have thousands of settled requests, while few of all are open.
    const [own, scope] = session_id === undefined ? ["", []] : ["AND session_id = ?", [session_id]];
    return { sql: `${selectByAge(1)} ${later} ${own} ${OLDEST_FIRST}`, values: [...place, ...scope, limit] };
  }
  if (session_id !== undefined) {
    return { sql: `${BY_SESSION} ${later} ${OLDEST_FIRST}`, values: [session_id, ...place, limit] };
  }
  if (newest === true) {
    return { sql: `${selectByAge(0)} UNION ALL ${selectByAge(1)} ${NEWEST_FIRST}`, values: [limit] };
  }
  const both = `${selectByAge(0)} ${later} UNION ALL ${selectByAge(1)} ${later} ${OLDEST_FIRST}`;
  return { sql: both, values: [...place, ...place, limit] };
}

function selectByAge(is_open: 0 | 1): string {
  return `${SELECT} pending_requests_by_age WHERE is_open = ${is_open}`;
}

/** Trusts the JSON: only `save` writes it, and the table checks that it is valid. */
function toRow(found: unknown): RequestRow {
  return JSON.parse((found as { row: string }).row) as RequestRow;
}
