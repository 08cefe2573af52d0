// The SQLite driver: one transaction per append; if it fails, one per unit.
import { toMessage } from "../../base/coded-error.ts";
import {
  closeDatabase,
  type Database,
  isRefusal,
  openDatabase,
  runInTransaction,
  type Statement,
} from "../../base/sqlite/database.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { createDefaultRow } from "../default-row.ts";
import type { FoldTarget, JournalPlace, JournalRecord } from "../journal/types.ts";
import { findCutoff } from "../ledger.ts";
import { NO_MARKS, type OldMarks } from "../open-marks.ts";
import { withMark } from "../seq-marks.ts";
import type {
  AppendOrder,
  AppendOutcome,
  Driver,
  DriverOptions,
  Kin,
  LogBatch,
  PruneStep,
  Recovery,
  RequestFilter,
  Retention,
  RowFilter,
  RuleUses,
  SessionRunMark,
} from "../types.ts";
import { createOutcome, getSessionId, markUnit, toUnits, type Unit } from "../units.ts";
import { checkNoted, forgetDamage } from "./damage.ts";
import { Events } from "./events.ts";
import { EMPTY, Exports, REMOVED } from "./exports.ts";
import { migrate } from "./migrations.ts";
import { Requests } from "./requests.ts";
import { Pruner } from "./retention.ts";
import { RunMarks } from "./run-marks.ts";
import { Sessions } from "./sessions.ts";

/** Rows that are read to see whether the file is damaged. */
const RECENT = 100;

export async function openSqliteDriver(path: string, options: DriverOptions): Promise<SqliteDriver> {
  const db = await openDatabase({
    path,
    now: options.now,
    onRecovery: options.onRecovery,
    prepare(found) {
      checkNoted(path, found);
      migrate(found);
      // What every start needs. Reading everything would find more damage, but takes longer with every session.
      const sessions = new Sessions(found);
      sessions.find({ unfinished: true });
      sessions.find({ limit: RECENT });
      new Requests(found).find({ open: true });
      new RunMarks(found).find([]);
    },
  });
  forgetDamage(path);
  return new SqliteDriver(db, options.now);
}

export interface ImportTarget {
  addBatch(batch: LogBatch, atMs: number): void;
  saveRow(row: SessionRow): void;
  saveRequest(row: RequestRow): void;
}

/** Needs an open, migrated database; exported for tests that make the database fail. */
export class SqliteDriver implements Driver, FoldTarget {
  readonly #db: Database;
  readonly #now: () => number;
  #marks = NO_MARKS;
  #onStored: (session_id: string) => void = () => undefined;
  readonly #events: Events;
  readonly #sessions: Sessions;
  readonly #pruner: Pruner;
  /** Prepared on first use: only a store with a journal needs it. */
  #savePlace: Statement | undefined;
  #ledger: Requests | undefined;
  #runMarkTable: RunMarks | undefined;
  #exports: Exports | undefined;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    const getMark = (session_id: string) => this.#marks.get(session_id);
    this.#sessions = new Sessions(db, getMark);
    this.#events = new Events(db, { getMark, rowSeq: (session_id) => this.#sessions.lastSeq(session_id) });
    this.#pruner = new Pruner(db);
  }

  append(order: AppendOrder): AppendOutcome {
    const outcome = createOutcome(order);
    const units = toUnits(order);
    try {
      // FULL syncs the WAL at commit, with all earlier commits; it has no effect inside a transaction.
      if (order.sync) this.#db.exec("PRAGMA synchronous=FULL");
      if (this.#tryTogether(units, outcome)) return outcome;
      for (const unit of units) this.#storeAlone(unit, outcome);
    } catch (error) {
      for (const unit of units) markUnit(outcome, unit, toMessage(error));
    } finally {
      if (order.sync) this.#syncNormally();
    }
    return outcome;
  }

  /** From now on sessions continue after their mark, even if the log ends before it. Closed with the driver. */
  follow(marks: OldMarks): void {
    this.#marks = marks;
    this.#events.forget();
  }

  place(): JournalPlace {
    return this.#db.prepare('SELECT n, "offset" FROM journal').get() as unknown as JournalPlace;
  }

  /** Calls back for each session that is written to, before the transaction ends. */
  set onStored(listener: (session_id: string) => void) {
    this.#onStored = listener;
  }

  exportsTo(dir: string): Exports {
    this.#exports = new Exports(this.#db, dir);
    return this.#exports;
  }

  /** Stores all of what `work` adds, or nothing. It checks the order of frames itself. */
  importAll(work: (into: ImportTarget) => void): void {
    const into: ImportTarget = {
      addBatch: (batch, atMs) => this.#events.add(batch, atMs),
      saveRow: (row) => this.#sessions.save(row),
      saveRequest: (row) => this.#requests.save(row),
    };
    try {
      runInTransaction(this.#db, () => work(into));
    } finally {
      this.#events.forget();
    }
  }

  fold(records: JournalRecord[], place: JournalPlace, sync: boolean): Recovery[] {
    try {
      if (sync) this.#db.exec("PRAGMA synchronous=FULL");
      return runInTransaction(this.#db, () => {
        const refused = records.flatMap((record) => this.#foldRecord(record));
        this.#savePlace ??= this.#db.prepare('UPDATE journal SET n = ?, "offset" = ?');
        this.#savePlace.run(place.n, place.offset);
        return refused;
      });
    } catch (error) {
      this.#events.forget();
      throw error;
    } finally {
      if (sync) this.#syncNormally();
    }
  }

  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined {
    return this.#events.read(session_id, after_seq, max_bytes);
  }

  earliest(session_id: string): number | undefined {
    return this.#events.earliestSeq(session_id);
  }

  loadRow(session_id: string): SessionRow | undefined {
    const row = this.#sessions.load(session_id);
    if (row !== undefined) return row;
    const last_seq = this.#events.newestSeq(session_id);
    if (last_seq === undefined) return undefined;
    return withMark(
      createDefaultRow({ session_id, last_seq }, this.#now()),
      last_seq,
      this.#marks.get(session_id),
    );
  }

  /** The seq of the newest stored frame. */
  newestSeq(session_id: string): number | undefined {
    return this.#events.newestSeq(session_id);
  }

  rowText(session_id: string): string | undefined {
    return this.#sessions.text(session_id);
  }

  highestSeq(session_id: string): number {
    return this.#events.lastSeq(session_id);
  }

  rows(filter?: RowFilter): SessionRow[] {
    return this.#sessions.find(filter);
  }

  countRows(): Record<string, number> {
    return this.#sessions.count();
  }

  kin(session_ids: readonly string[]): Kin[] {
    return this.#sessions.kin(session_ids);
  }

  saveRow(row: SessionRow): void {
    this.#sessions.save(row);
    this.#onStored(row.session_id);
  }

  requests(filter: RequestFilter): RequestRow[] {
    return this.#requests.find(filter);
  }

  ruleUses(): RuleUses[] {
    return this.#requests.ruleUses();
  }

  request(session_id: string, request_id: string): RequestRow | undefined {
    return this.#requests.load(session_id, request_id);
  }

  runMarks(session_ids: readonly string[]): SessionRunMark[] {
    return this.#runMarks.find(session_ids);
  }

  delete(session_id: string): void {
    runInTransaction(this.#db, () => {
      this.#requests.delete(session_id);
      this.#runMarks.delete(session_id);
      this.#events.delete(session_id);
      this.#sessions.delete(session_id);
      // In all directories: files that cannot be removed now must not be imported later. The current one may have
      // files that were never exported.
      this.#db.prepare("UPDATE exports SET bytes = ? WHERE session_id = ?").run(REMOVED, session_id);
      this.#exports?.save(session_id, { ...EMPTY, bytes: REMOVED });
    });
    this.#marks.delete(session_id);
  }

  prune(limits: Retention, nowMs: number, after?: string): PruneStep {
    const kept = findCutoff(limits, nowMs);
    if (kept !== undefined && after === undefined) this.#requests.prune(kept);
    // Frames hold no secrets, and overwriting them would take twice the time.
    this.#db.exec("PRAGMA secure_delete=OFF");
    try {
      return this.#pruner.prune(limits, nowMs, after);
    } finally {
      this.#db.exec("PRAGMA secure_delete=ON");
    }
  }

  /** Frees pages of the database that are kept in memory. */
  shrinkMemory(): void {
    this.#db.exec("PRAGMA shrink_memory");
  }

  close(): void {
    this.#marks.close();
    closeDatabase(this.#db);
  }

  /** Prepared on first use: most appends have no requests. */
  get #requests(): Requests {
    this.#ledger ??= new Requests(this.#db);
    return this.#ledger;
  }

  /** Prepared on first use: not every append has a mark. */
  get #runMarks(): RunMarks {
    this.#runMarkTable ??= new RunMarks(this.#db);
    return this.#runMarkTable;
  }

  #tryTogether(units: Unit[], outcome: AppendOutcome): boolean {
    try {
      runInTransaction(this.#db, () => {
        for (const unit of units) markUnit(outcome, unit, this.#store(unit, this.#now()));
      });
      return true;
    } catch {
      // Units are then stored one by one; each reports its own error.
      this.#events.forget();
      return false;
    }
  }

  #storeAlone(unit: Unit, outcome: AppendOutcome): void {
    try {
      markUnit(
        outcome,
        unit,
        runInTransaction(this.#db, () => this.#store(unit, this.#now())),
      );
    } catch (error) {
      this.#events.forget();
      markUnit(outcome, unit, toMessage(error));
    }
  }

  /** Stores a record; returns the units that can never be stored. */
  #foldRecord(record: JournalRecord): Recovery[] {
    const refused: Recovery[] = [];
    for (const unit of toUnits(record)) {
      const message = this.#tryFold(unit, record.at_ms);
      if (message === undefined) continue;
      const session_id = getSessionId(unit);
      const kept_seq = this.#events.lastSeq(session_id);
      refused.push({ session_id, kept_seq, cut_bytes: unit.batch?.value.bytes.length ?? 0, message });
    }
    return refused;
  }

  #tryFold(unit: Unit, atMs: number): string | undefined {
    try {
      return this.#store(unit, atMs);
    } catch (error) {
      if (isRefusal(error)) return toMessage(error);
      throw error;
    }
  }

  #store(unit: Unit, atMs: number): string | undefined {
    const { batch, row, requests } = unit;
    const fault = batch === undefined ? undefined : this.#events.insert(batch.value, atMs);
    if (fault !== undefined) return fault;
    if (batch?.value.run !== undefined) this.#runMarks.save(batch.value.session_id, batch.value.run);
    if (row !== undefined) this.#sessions.save(row.value);
    if (requests !== undefined) for (const { value } of requests) this.#requests.save(value);
    this.#onStored(getSessionId(unit));
    return undefined;
  }

  #syncNormally(): void {
    try {
      this.#db.exec("PRAGMA synchronous=NORMAL");
    } catch {
      // The outcome is already known; staying at FULL only costs time.
    }
  }
}
