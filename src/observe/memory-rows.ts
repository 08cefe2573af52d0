// Keeps rows in memory, for a daemon without a database: the newest of all sessions together.
import { defined } from "../base/values.ts";
import type { EventRow, Row, RowQuery, Rows } from "./rows.ts";
import { toStats } from "./stats.ts";
import type { ObservedStats, ObservedUsage, StatsQuery, UsageQuery } from "./types.ts";
import { mergeSlices, type TurnUsage } from "./usage.ts";
import { sliceRows } from "./usage-table.ts";

const MAX_ROWS = 5_000;

export class MemoryRows implements Rows {
  #rows: EventRow[] = [];
  #usage: TurnUsage[] = [];
  readonly #maxRows: number;

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  add(row: Row): void {
    if (row.kind === "forget") {
      this.#rows = this.#rows.filter((kept) => kept.row.session_id !== row.row.session_id);
      this.#usage = this.#usage.map((kept) =>
        kept.session_id === row.row.session_id ? { ...kept, session_id: "", project: "" } : kept,
      );
    } else if (row.kind === "usage") {
      this.#usage.push(row.row);
      if (this.#usage.length > this.#maxRows) this.#usage.splice(0, Math.ceil(this.#maxRows / 10));
    } else if (row.kind !== "cut") {
      this.#rows.push(row);
      // A tenth at once: shifting the array for every row would cost more than the row.
      if (this.#rows.length > this.#maxRows) this.#rows.splice(0, Math.ceil(this.#maxRows / 10));
    }
  }

  /** Everything is on one page. */
  page(query: RowQuery): Promise<EventRow[]> {
    if (query.before !== undefined) return Promise.resolve([]);
    return Promise.resolve(selectNewestFirst(this.#rows, query));
  }

  /** Nothing from earlier daemons. */
  newest(): Promise<EventRow[][]> {
    return Promise.resolve([]);
  }

  stats(query: StatsQuery): Promise<ObservedStats> {
    return Promise.resolve(toStats(this.#rows, query));
  }

  usage(query: UsageQuery): Promise<ObservedUsage> {
    const slices = mergeSlices(sliceRows(this.#usage, query));
    return Promise.resolve({ slices, ...defined({ recorded_since_ms: this.#usage[0]?.ended_at_ms }) });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Rows that match the query, newest first. */
export function selectNewestFirst(rows: readonly Row[], { kind, session_id, limit }: RowQuery): EventRow[] {
  const found: EventRow[] = [];
  for (let at = rows.length - 1; at >= 0 && found.length < limit; at -= 1) {
    const row = rows[at];
    if (row === undefined || row.kind === "cut" || row.kind === "forget" || row.kind === "usage") continue;
    if (kind !== undefined && row.kind !== kind) continue;
    if (session_id !== undefined && row.row.session_id !== session_id) continue;
    found.push(row);
  }
  return found;
}
