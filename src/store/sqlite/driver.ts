// The SQLite driver: one transaction an append, and a second try batch by batch when it fails.
import { messageOf } from "../../base/coded-error.ts";
import {
  closeDatabase,
  type Database,
  inTransaction,
  isRefusal,
  openDatabase,
  type Statement,
} from "../../base/sqlite/database.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { defaultRow } from "../default-row.ts";
import type { FoldTarget, JournalPlace, JournalRecord } from "../journal/types.ts";
import { oldestKept } from "../ledger.ts";
import { withMark } from "../seq-marks.ts";
import type {
  AppendOrder,
  AppendOutcome,
  Driver,
  DriverOptions,
  LogBatch,
  PruneCounts,
  Recovery,
  RequestFilter,
  Retention,
} from "../types.ts";
import { emptyOutcome, markUnit, sessionOf, toUnits, type Unit } from "../units.ts";
import { Events } from "./events.ts";
import { migrate } from "./migrations.ts";
import { Requests, walkRequests } from "./requests.ts";
import { Pruner } from "./retention.ts";
import { Sessions } from "./sessions.ts";

export async function openSqliteDriver(path: string, options: DriverOptions): Promise<SqliteDriver> {
  const db = await openDatabase({
    path,
    now: options.now,
    onRecovery: options.onRecovery,
    prepare(found) {
      migrate(found);
      // Walks all trees, so that a broken one is found now and not in the middle of a turn.
      new Sessions(found).all();
      walkRequests(found);
    },
  });
  return new SqliteDriver(db, options.now);
}

/** Over a database that is open and migrated; its own door for tests that let the database fail. */
export class SqliteDriver implements Driver, FoldTarget {
  readonly #db: Database;
  readonly #now: () => number;
  /** The highest seqs that were given out in earlier lives. */
  #marks = new Map<string, number>();
  readonly #events: Events;
  readonly #sessions: Sessions;
  readonly #pruner: Pruner;
  /** Prepared when it is needed: only a store with a journal has it. */
  #savePlace: Statement | undefined;
  #ledger: Requests | undefined;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    const markOf = (session_id: string) => this.#marks.get(session_id) ?? 0;
    this.#sessions = new Sessions(db, markOf);
    this.#events = new Events(db, { markOf, rowSeq: (session_id) => this.#sessions.lastSeq(session_id) });
    this.#pruner = new Pruner(db);
  }

  append(order: AppendOrder): AppendOutcome {
    const outcome = emptyOutcome(order);
    const units = toUnits(order);
    try {
      // FULL syncs the WAL with the commit, and so every commit before it; inside a transaction it would not count.
      if (order.sync) this.#db.exec("PRAGMA synchronous=FULL");
      if (this.#tryTogether(units, outcome)) return outcome;
      for (const unit of units) this.#storeAlone(unit, outcome);
    } catch (error) {
      for (const unit of units) markUnit(outcome, unit, messageOf(error));
    } finally {
      if (order.sync) this.#syncNormally();
    }
    return outcome;
  }

  /** From now on a session goes on behind its mark, even if the log ends before it. */
  follow(marks: ReadonlyMap<string, number>): void {
    this.#marks = new Map(marks);
    this.#events.forget();
  }

  place(): JournalPlace {
    return this.#db.prepare('SELECT n, "offset" FROM journal').get() as unknown as JournalPlace;
  }

  fold(records: JournalRecord[], place: JournalPlace, sync: boolean): Recovery[] {
    try {
      if (sync) this.#db.exec("PRAGMA synchronous=FULL");
      return inTransaction(this.#db, () => {
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
      defaultRow({ session_id, last_seq }, this.#now()),
      last_seq,
      this.#marks.get(session_id) ?? 0,
    );
  }

  highestSeq(session_id: string): number {
    return this.#events.lastSeq(session_id);
  }

  rows(): SessionRow[] {
    return this.#sessions.all();
  }

  saveRow(row: SessionRow): void {
    this.#sessions.save(row);
  }

  requests(filter: RequestFilter): RequestRow[] {
    return this.#requests.find(filter);
  }

  request(session_id: string, request_id: string): RequestRow | undefined {
    return this.#requests.load(session_id, request_id);
  }

  delete(session_id: string): void {
    inTransaction(this.#db, () => {
      this.#requests.delete(session_id);
      this.#events.delete(session_id);
      this.#sessions.delete(session_id);
    });
    this.#marks.delete(session_id);
  }

  prune(limits: Retention, nowMs: number): PruneCounts {
    const kept = oldestKept(limits, nowMs);
    if (kept !== undefined) this.#requests.prune(kept);
    // Frames hold no secret, and are many: overwriting them too takes twice the time.
    this.#db.exec("PRAGMA secure_delete=OFF");
    try {
      return this.#pruner.prune(limits, nowMs);
    } finally {
      this.#db.exec("PRAGMA secure_delete=ON");
    }
  }

  close(): void {
    closeDatabase(this.#db);
  }

  /** Prepared when it is needed: most appends have nothing for the ledger. */
  get #requests(): Requests {
    this.#ledger ??= new Requests(this.#db);
    return this.#ledger;
  }

  #tryTogether(units: Unit[], outcome: AppendOutcome): boolean {
    try {
      inTransaction(this.#db, () => {
        for (const unit of units) markUnit(outcome, unit, this.#store(unit, this.#now()));
      });
      return true;
    } catch {
      // Which unit was at fault is found by storing them one by one; each then reports its own error.
      this.#events.forget();
      return false;
    }
  }

  #storeAlone(unit: Unit, outcome: AppendOutcome): void {
    try {
      markUnit(
        outcome,
        unit,
        inTransaction(this.#db, () => this.#store(unit, this.#now())),
      );
    } catch (error) {
      this.#events.forget();
      markUnit(outcome, unit, messageOf(error));
    }
  }

  /** Units that can never be stored, in whose place nothing else would come. */
  #foldRecord(record: JournalRecord): Recovery[] {
    const refused: Recovery[] = [];
    for (const unit of toUnits(record)) {
      const message = this.#tryFold(unit, record.at_ms);
      if (message === undefined) continue;
      const session_id = sessionOf(unit);
      const kept_seq = this.#events.lastSeq(session_id);
      refused.push({ session_id, kept_seq, cut_bytes: unit.batch?.value.bytes.length ?? 0, message });
    }
    return refused;
  }

  #tryFold(unit: Unit, atMs: number): string | undefined {
    try {
      return this.#store(unit, atMs);
    } catch (error) {
      if (isRefusal(error)) return messageOf(error);
      throw error;
    }
  }

  #store({ batch, row, requests }: Unit, atMs: number): string | undefined {
    const fault = batch === undefined ? undefined : this.#events.insert(batch.value, atMs);
    if (fault !== undefined) return fault;
    if (row !== undefined) this.#sessions.save(row.value);
    if (requests !== undefined) for (const { value } of requests) this.#requests.save(value);
    return undefined;
  }

  #syncNormally(): void {
    try {
      this.#db.exec("PRAGMA synchronous=NORMAL");
    } catch {
      // The outcome is known already; staying at FULL only costs time.
    }
  }
}
