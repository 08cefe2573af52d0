// Reads, writes and prunes observability.db. Synchronous; runs in the worker thread.

import {
  closeDatabase,
  type Database,
  isBroken,
  isRefusal,
  type MovedAside,
  openDatabase,
  runInTransaction,
  type Statement,
} from "../base/sqlite/database.ts";
import { defined, omitNulls } from "../base/values.ts";
import { markSent, readUnsent, type Unsent } from "./export/unsent.ts";
import { prune } from "./retention.ts";
import type {
  EventRow,
  PruneCounts,
  Retention,
  Row,
  RowQuery,
  StatsOrder,
  StoredRow,
  TurnCut,
  UsageOrder,
} from "./rows.ts";
import { migrate, TABLES, TOOL_COLUMNS, TURN_COLUMNS } from "./schema.ts";
import { toStats } from "./stats.ts";
import { readStatRows } from "./stats-rows.ts";
import type { ObservedStats, ObservedUsage } from "./types.ts";
import { UsageTable } from "./usage-table.ts";

export interface EventsOptions {
  path: string;
  now(): number;
  /** A damaged file was moved aside and replaced by a new one. */
  onAside(aside: MovedAside): void;
}

type Value = string | number | null;

const COLUMNS = { tool: TOOL_COLUMNS, turn: TURN_COLUMNS } as const;
const KINDS = ["tool", "turn"] as const;
/** Enough rows of each table to find a session's last action. */
const NEWEST = 4;

/** Requests about a call. One that was orphaned by a restart has lost its turn. */
const ASKED = `
  FROM tool_events AS asked
  WHERE asked.session_id = began.session_id AND asked.item_id = began.item_id AND asked.request_id IS NOT NULL
    AND (asked.turn_id = began.turn_id OR asked.id > began.id)`;
const IS_ACCEPTED = `(asked.event_type = 'user_input_submitted' OR asked.approval_decision LIKE 'accept%')`;
/** The time that a request was pending does not count as the command's. */
const WAITED = `(SELECT coalesce(sum(asked.latency_ms), 0) ${ASKED} AND ${IS_ACCEPTED})`;
const NOT_RUN = `
  CASE WHEN EXISTS (SELECT 1 ${ASKED}) AND NOT EXISTS (SELECT 1 ${ASKED} AND ${IS_ACCEPTED})
  THEN 'daemon_stopped' END`;

/** Columns of the end row of a cut call; the others are copied from its start row. */
const CUT_VALUES: Readonly<Partial<Record<(typeof TOOL_COLUMNS)[number], string>>> = {
  event_type: "'failed'",
  phase: "'post'",
  exit_code: "NULL",
  approval_decision: "NULL",
  latency_ms: `CASE WHEN ${NOT_RUN} IS NULL THEN max(0, :now - created_at_ms - ${WAITED}) ELSE 0 END`,
  final_status: "'failed'",
  not_run: NOT_RUN,
  error_code: ":code",
  error_message: ":message",
  created_at_ms: ":now",
};

/** Adds an end row for every call of a turn that has none. */
const CUT = `
  INSERT INTO tool_events (id, ${TOOL_COLUMNS.join(", ")})
  SELECT :last + row_number() OVER (ORDER BY began.id), ${TOOL_COLUMNS.map((name) => CUT_VALUES[name] ?? name).join(", ")}
  FROM tool_events AS began
  WHERE session_id = :session AND turn_id = :turn AND event_type = 'started' AND NOT EXISTS (
    SELECT 1 FROM tool_events AS later
    WHERE later.session_id = began.session_id AND later.item_id = began.item_id AND later.id > began.id
      AND later.request_id IS NULL AND later.phase = 'post')`;

export class EventsDatabase {
  readonly #options: EventsOptions;
  #db: Database;
  #inserts: Record<EventRow["kind"], Statement>;
  #usage: UsageTable;
  /** Both tables share one sequence, so that their rows have one order. */
  #lastId: number;

  static async open(options: EventsOptions): Promise<EventsDatabase> {
    return new EventsDatabase(options, await open(options, migrate));
  }

  private constructor(options: EventsOptions, db: Database) {
    this.#options = options;
    this.#db = db;
    this.#inserts = prepareInserts(db);
    this.#usage = new UsageTable(db);
    this.#lastId = readLastId(db);
  }

  /** In one transaction. Returns how many rows can never be stored; if it throws, nothing was stored: retry. */
  write(rows: readonly Row[]): { refused: number } {
    const before = this.#lastId;
    try {
      return runInTransaction(this.#db, () => ({ refused: rows.filter((row) => !this.#store(row)).length }));
    } catch (error) {
      this.#lastId = before;
      throw error;
    }
  }

  /** Newest first. */
  page(query: RowQuery): StoredRow[] {
    const { kind, limit } = query;
    if (kind !== undefined) return this.#readPage(kind, query);
    const rows = KINDS.flatMap((one) => this.#readPage(one, query));
    return rows.sort((a, b) => b.id - a.id).slice(0, limit);
  }

  /** The newest rows of each session, oldest first. */
  newest(session_ids: readonly string[]): StoredRow[][] {
    return session_ids.map((session_id) => this.page({ session_id, limit: NEWEST }).reverse());
  }

  /** Includes `unstored` rows, some of which may already be stored. */
  stats({ unstored, ...query }: StatsOrder): ObservedStats {
    return toStats([...readStatRows(this.#db, query), ...unstored], query);
  }

  /** Includes `unstored` rows, some of which may already be stored. */
  usage({ unstored, ...query }: UsageOrder): ObservedUsage {
    const slices = this.#usage.sum(query, unstored);
    return { slices, ...defined({ recorded_since_ms: this.#usage.earliest() }) };
  }

  prune(limits: Retention): PruneCounts {
    return prune(this.#db, limits, this.#options.now());
  }

  /** What a collector has not got yet. */
  unsent(limit: number): Unsent {
    return readUnsent(this.#db, { limit, lastId: this.#lastId });
  }

  markSent(cursor: number): void {
    markSent(this.#db, cursor);
  }

  close(): void {
    closeDatabase(this.#db);
  }

  /** After an error that suggests damage: checks the whole file and moves it aside if it is damaged. */
  async repair(error: unknown): Promise<boolean> {
    if (!isBroken(error)) return false;
    closeDatabase(this.#db);
    this.#db = await open(this.#options, (db) => {
      const [found] = db.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
      if (found?.quick_check !== "ok") throw new Error("database disk image is malformed");
      migrate(db);
    });
    this.#inserts = prepareInserts(this.#db);
    this.#usage = new UsageTable(this.#db);
    this.#lastId = readLastId(this.#db);
    return true;
  }

  #store(row: Row): boolean {
    if (row.kind === "forget") this.#forget(row.row.session_id);
    else if (row.kind === "cut") this.#endCutCalls(row.row);
    else if (row.kind === "usage") this.#usage.add(row.row);
    else return this.#insert(row);
    return true;
  }

  #insert({ kind, row }: EventRow): boolean {
    const fields = row as unknown as Record<string, Value | undefined>;
    try {
      this.#inserts[kind].run(this.#lastId + 1, ...COLUMNS[kind].map((name) => fields[name] ?? null));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
    this.#lastId += 1;
    return true;
  }

  #endCutCalls({ session_id, turn_id, error_code, error_message, created_at_ms }: TurnCut): void {
    const { changes } = this.#db.prepare(CUT).run({
      last: this.#lastId,
      now: created_at_ms,
      code: error_code,
      message: error_message,
      session: session_id,
      turn: turn_id,
    });
    this.#lastId += Number(changes);
  }

  #forget(session_id: string): void {
    for (const kind of KINDS) {
      this.#db.prepare(`DELETE FROM ${TABLES[kind]} WHERE session_id = ?`).run(session_id);
    }
    this.#usage.forget(session_id);
  }

  #readPage(kind: EventRow["kind"], { session_id, before, limit }: RowQuery): StoredRow[] {
    const where = [
      ...(session_id === undefined ? [] : ["session_id = ?"]),
      ...(before === undefined ? [] : ["id < ?"]),
    ];
    const values: Value[] = [
      ...(session_id === undefined ? [] : [session_id]),
      ...(before === undefined ? [] : [before]),
    ];
    const found = this.#db
      .prepare(
        `SELECT id, ${COLUMNS[kind].join(", ")} FROM ${TABLES[kind]}
         ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`} ORDER BY id DESC LIMIT ?`,
      )
      .all(...values, limit) as Record<string, Value>[];
    return found.map(({ id, ...row }) => ({ id, kind, row: omitNulls(row) }) as unknown as StoredRow);
  }
}

function open(options: EventsOptions, prepare: (db: Database) => void): Promise<Database> {
  const { path, now, onAside } = options;
  return openDatabase({
    path,
    now,
    onRecovery: onAside,
    // Users may read this file with other tools.
    isShared: true,
    prepare(db) {
      prepare(db);
      readLastId(db);
    },
  });
}

function prepareInserts(db: Database): Record<EventRow["kind"], Statement> {
  const insert = (kind: EventRow["kind"]) => {
    const names = ["id", ...COLUMNS[kind]];
    return db.prepare(
      `INSERT INTO ${TABLES[kind]} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    );
  };
  return { tool: insert("tool"), turn: insert("turn") };
}

function readLastId(db: Database): number {
  const ids = KINDS.map((kind) => {
    const found = db.prepare(`SELECT max(id) AS id FROM ${TABLES[kind]}`).get() as { id: number | null };
    return found.id ?? 0;
  });
  return Math.max(...ids);
}
