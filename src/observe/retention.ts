// Removes old rows: by age, and above a number per session.
import { type Database, runInTransaction } from "../base/sqlite/database.ts";
import type { EventRow, PruneCounts, Retention } from "./rows.ts";
import { TABLES } from "./schema.ts";
import { UsageTable } from "./usage-table.ts";

export function prune(db: Database, limits: Retention, nowMs: number): PruneCounts {
  const { maxAgeMs, maxUsageAgeMs = 0 } = limits;
  const beforeMs = maxAgeMs > 0 ? nowMs - maxAgeMs : undefined;
  return {
    tool: pruneTable(db, "tool", beforeMs, limits.maxToolRows),
    turn: pruneTable(db, "turn", beforeMs, limits.maxTurnRows),
    usage: maxUsageAgeMs > 0 ? new UsageTable(db).prune(nowMs - maxUsageAgeMs) : 0,
  };
}

function pruneTable(
  db: Database,
  kind: EventRow["kind"],
  beforeMs: number | undefined,
  maxRows: number,
): number {
  const table = TABLES[kind];
  let gone = 0;
  if (beforeMs !== undefined) {
    gone += Number(db.prepare(`DELETE FROM ${table} WHERE created_at_ms < ?`).run(beforeMs).changes);
  }
  if (maxRows <= 0) return gone;
  const crowded = db
    .prepare(`SELECT session_id FROM ${table} GROUP BY session_id HAVING count(*) > ?`)
    .all(maxRows) as { session_id: string }[];
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE session_id = ?1 AND id <= (
       SELECT id FROM ${table} WHERE session_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
  );
  // One transaction per session keeps the WAL small.
  for (const { session_id } of crowded) {
    gone += runInTransaction(db, () => Number(remove.run(session_id, maxRows).changes));
  }
  return gone;
}
