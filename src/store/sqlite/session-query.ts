// Queries of the table `sessions`. Each walks one index, and reads a row only if it matches.
import type { RowFilter, RowPlace } from "../types.ts";

/** Most recently active first. */
export const NEWEST_FIRST = "ORDER BY last_active_at_ms DESC, started_at_ms DESC, session_id";
/** Ids have none of the characters after z. */
const AFTER_IDS = "~";

export interface RowQuery {
  /** The index, and the conditions. */
  from: string;
  values: (string | number)[];
}

export function toRowQuery(filter: RowFilter): RowQuery {
  const conditions: string[] = [];
  const values: RowQuery["values"] = [];
  const need = (condition: string, ...given: RowQuery["values"]) => {
    conditions.push(condition);
    values.push(...given);
  };
  const source = selectSource(filter, need);
  const { backend, cwd, parent, name, after } = filter;
  if (backend !== undefined) need("backend = ?", backend);
  if (cwd !== undefined) need("cwd = ?", cwd);
  if (parent !== undefined) need("parent = ?", parent);
  if (name !== undefined) need("name = ?", name);
  if (after !== undefined) need(...isAfter(after));
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return { from: `${source}${where}`, values };
}

/** The index with the fewest rows. */
function selectSource(
  { ids, native_ids, family, unfinished, spawn_key, prefix, name, parent }: RowFilter,
  need: (condition: string, ...given: RowQuery["values"]) => void,
): string {
  if (ids !== undefined) {
    need("session_id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
    return "sessions s";
  }
  if (native_ids !== undefined) {
    need("native_session_id IN (SELECT value FROM json_each(?))", JSON.stringify(native_ids));
    return "sessions s INDEXED BY sessions_by_native_id";
  }
  if (family !== undefined) {
    need(
      `session_id IN (WITH RECURSIVE family(id) AS (
         VALUES (?) UNION SELECT below.session_id FROM family
         JOIN sessions below INDEXED BY sessions_by_parent ON below.parent = family.id
       ) SELECT id FROM family)`,
      family,
    );
    return "sessions s";
  }
  if (unfinished === true) {
    need("is_unfinished = 1");
    return "sessions s INDEXED BY sessions_unfinished";
  }
  if (spawn_key !== undefined) {
    need("spawn_key = ?", spawn_key);
    return "sessions s INDEXED BY sessions_by_spawn_key";
  }
  if (name !== undefined) return "sessions s INDEXED BY sessions_by_name";
  if (parent !== undefined) return "sessions s INDEXED BY sessions_by_parent";
  if (prefix !== undefined) {
    need("session_id >= ? AND session_id < ?", prefix, prefix + AFTER_IDS);
    return "sessions s";
  }
  return "sessions s INDEXED BY sessions_by_activity";
}

function isAfter({
  last_active_at_ms,
  started_at_ms,
  session_id,
}: RowPlace): [string, ...(string | number)[]] {
  return [
    `last_active_at_ms <= ? AND (last_active_at_ms < ? OR started_at_ms < ? OR (started_at_ms = ? AND session_id > ?))`,
    ...[last_active_at_ms, last_active_at_ms, started_at_ms, started_at_ms, session_id],
  ];
}
