// The queries of session rows, done plainly: what every store must answer, and how the fake ones do it.
import type { SessionRow } from "../../src/protocol/session.ts";
import type { Kin, RowFilter, RowPlace } from "../../src/store/types.ts";

function byActivity(a: RowPlace, b: RowPlace): number {
  const byTime = b.last_active_at_ms - a.last_active_at_ms || b.started_at_ms - a.started_at_ms;
  return byTime || (a.session_id < b.session_id ? -1 : Number(a.session_id > b.session_id));
}

export function selectRows(rows: Iterable<SessionRow>, filter: RowFilter = {}): SessionRow[] {
  const all = [...rows];
  const family = filter.family === undefined ? undefined : familyOf(all, filter.family);
  const { ids, native_ids, after } = filter;
  const found = all.filter((row) => {
    const { session_id, native_session_id } = row;
    return (
      (ids === undefined || ids.includes(session_id)) &&
      (native_ids === undefined || native_ids.includes(native_session_id ?? "")) &&
      (family === undefined || family.has(session_id)) &&
      (filter.unfinished !== true || isUnfinished(row)) &&
      (filter.spawn_key === undefined || row.spawn?.key === filter.spawn_key) &&
      (filter.prefix === undefined || session_id.startsWith(filter.prefix)) &&
      (filter.backend === undefined || row.backend === filter.backend) &&
      (filter.cwd === undefined || row.cwd === filter.cwd) &&
      (filter.parent === undefined || row.parent === filter.parent) &&
      (filter.name === undefined || row.name === filter.name) &&
      (after === undefined || byActivity(row, after) > 0)
    );
  });
  return found.sort(byActivity).slice(0, filter.limit);
}

export function findKin(rows: Iterable<SessionRow>, session_ids: readonly string[]): Kin[] {
  const all = new Map([...rows].map((row) => [row.session_id, row]));
  return session_ids.map((session_id) => {
    const line = new Set([session_id]);
    for (let id = all.get(session_id)?.parent; id !== undefined && all.has(id) && !line.has(id); ) {
      line.add(id);
      id = all.get(id)?.parent;
    }
    const children = [...all.values()]
      .filter(({ parent }) => parent === session_id)
      .sort((a, b) => a.started_at_ms - b.started_at_ms || (a.session_id < b.session_id ? -1 : 1));
    return { above: [...line].slice(1), children: children.map((row) => row.session_id) };
  });
}

export function countRows(rows: Iterable<SessionRow>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { backend } of rows) counts[backend] = (counts[backend] ?? 0) + 1;
  return counts;
}

function isUnfinished({ turn, lost_after, queue = [], wakes = [] }: SessionRow): boolean {
  return turn !== undefined || lost_after !== undefined || queue.length > 0 || wakes.length > 0;
}

function familyOf(rows: readonly SessionRow[], session_id: string): Set<string> {
  const family = new Set([session_id]);
  for (const id of family) for (const row of rows) if (row.parent === id) family.add(row.session_id);
  return family;
}
