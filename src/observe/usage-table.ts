// The table of what turns used: one small row per turn, kept longer than the other rows.

import { listDays } from "../base/days.ts";
import type { Database, Statement } from "../base/sqlite/database.ts";
import { omitNulls } from "../base/values.ts";
import type { UsageQuery } from "./types.ts";
import { mergeSlices, type TurnUsage, toSums, type UsageSlice } from "./usage.ts";

export const USAGE_COLUMNS = [
  "ended_at_ms",
  "session_id",
  "turn_id",
  "agent",
  "project",
  "duration_ms",
  "waited_ms",
  "input_tokens",
  "cached_tokens",
  "output_tokens",
  "cost_usd",
] as const satisfies (keyof TurnUsage)[];

const SUMS = `count(*) AS turns, sum(input_tokens) AS input_tokens, sum(cached_tokens) AS cached_tokens,
  sum(output_tokens) AS output_tokens, count(*) - count(coalesce(input_tokens, output_tokens)) AS turns_without_tokens,
  sum(cost_usd) AS cost_usd, count(*) - count(cost_usd) AS turns_without_cost,
  coalesce(sum(duration_ms), 0) AS duration_ms, coalesce(sum(waited_ms), 0) AS waited_ms`;
const KEYS = {
  agent: "agent AS key, NULL AS session_id",
  project: "coalesce(project, '') AS key, CASE WHEN project IS NULL THEN session_id END AS session_id",
  session: "session_id AS key, NULL AS session_id",
} as const;

/** Its statements are prepared when they are first needed. */
export class UsageTable {
  readonly #db: Database;
  #insert: Statement | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A turn counts once. */
  add(row: TurnUsage): void {
    this.#insert ??= this.#db.prepare(
      `INSERT OR IGNORE INTO turn_usage (${USAGE_COLUMNS.join(", ")}) VALUES (${USAGE_COLUMNS.map(() => "?").join(", ")})`,
    );
    this.#insert.run(...USAGE_COLUMNS.map((name) => row[name] ?? null));
  }

  /** What was spent stays spent, but nothing says by which session, and where. */
  forget(session_id: string): void {
    this.#db
      .prepare(
        `UPDATE turn_usage SET session_id = '', project = '', turn_id = lower(hex(randomblob(8))) WHERE session_id = ?`,
      )
      .run(session_id);
  }

  prune(beforeMs: number): number {
    return Number(this.#db.prepare("DELETE FROM turn_usage WHERE ended_at_ms < ?").run(beforeMs).changes);
  }

  /** Includes `unstored` rows, some of which may already be stored. */
  sum(query: UsageQuery, unstored: readonly TurnUsage[]): UsageSlice[] {
    const isStored = this.#db.prepare("SELECT 1 FROM turn_usage WHERE session_id = ? AND turn_id = ?");
    const fresh = unstored.filter(
      ({ session_id, turn_id }) => isStored.get(session_id, turn_id) === undefined,
    );
    return mergeSlices([...this.#readSlices(query), ...sliceRows(fresh, query)]);
  }

  /** The end of the first recorded turn. */
  earliest(): number | undefined {
    const found = this.#db.prepare("SELECT min(ended_at_ms) AS at_ms FROM turn_usage").get();
    return (found as { at_ms: number | null }).at_ms ?? undefined;
  }

  #readSlices({ by, from_ms, to_ms, time_zone, session_id }: UsageQuery): UsageSlice[] {
    const own = session_id === undefined ? "" : "AND session_id = ?";
    const scope = session_id === undefined ? [] : [session_id];
    const where = `FROM turn_usage WHERE ended_at_ms >= ? AND ended_at_ms < ? ${own}`;
    if (by !== "day") {
      const sql = `SELECT ${KEYS[by]}, ${SUMS} ${where} GROUP BY 1, 2`;
      return this.#db
        .prepare(sql)
        .all(from_ms, to_ms, ...scope)
        .map(toSlice);
    }
    const ofDay = this.#db.prepare(`SELECT ${SUMS} ${where}`);
    return listDays(time_zone, from_ms, to_ms).flatMap(({ day, from_ms: dayMs, to_ms: endMs }) => {
      const sums = ofDay.get(dayMs, endMs, ...scope) as { turns: number };
      return sums.turns === 0 ? [] : [toSlice({ key: day, from_ms: dayMs, ...sums })];
    });
  }
}

function toSlice(row: object): UsageSlice {
  return omitNulls(row) as unknown as UsageSlice;
}

/** The same for rows in memory: one slice per row. */
export function sliceRows(rows: readonly TurnUsage[], query: UsageQuery): UsageSlice[] {
  const { by, from_ms, to_ms, time_zone, session_id } = query;
  const meant = rows.filter(
    (row) =>
      row.ended_at_ms >= from_ms &&
      row.ended_at_ms < to_ms &&
      (session_id === undefined || row.session_id === session_id),
  );
  const days = by === "day" && meant.length > 0 ? listDays(time_zone, from_ms, to_ms) : [];
  return meant.map((row): UsageSlice => {
    const sums = toSums(row);
    if (by === "agent") return { key: row.agent, ...sums };
    if (by === "session") return { key: row.session_id, ...sums };
    if (by === "project")
      return row.project === undefined
        ? { key: "", session_id: row.session_id, ...sums }
        : { key: row.project, ...sums };
    const day = days.findLast(({ from_ms: dayMs }) => dayMs <= row.ended_at_ms);
    return { key: day?.day ?? "", ...(day === undefined ? {} : { from_ms: day.from_ms }), ...sums };
  });
}
