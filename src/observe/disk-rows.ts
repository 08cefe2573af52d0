// Buffers rows and writes them to observability.db in batches, in another thread. Failed
// writes are retried; the buffer is bounded. The event path never waits for it.
import { existsSync } from "node:fs";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Counter, Metrics } from "../base/metrics.ts";
import { readMonotonicMs } from "../base/monotonic.ts";
import { selectNewestFirst } from "./memory-rows.ts";
import type { RestingThread } from "./resting-thread.ts";
import type { EventRow, Retention, Row, RowQuery, Rows, StoredRow } from "./rows.ts";
import { toStats } from "./stats.ts";
import type { ObservedStats, ObservedUsage, StatsQuery, UsageQuery } from "./types.ts";
import { mergeSlices } from "./usage.ts";
import { sliceRows } from "./usage-table.ts";
import type { Ops } from "./worker-calls.ts";

export interface DiskTimes {
  /** How long rows are collected before they are written. */
  batchMs: number;
  /** An idle thread is stopped after this. */
  idleMs: number;
  /** Between retries of a failed write; doubled up to `maxRetryMs`. */
  retryMs: number;
  maxRetryMs: number;
  /** When to prune: after the start, then periodically. */
  firstPruneMs: number;
  pruneMs: number;
  /** Limit for writing the rest, and again for stopping the thread. */
  closeMs: number;
}

export interface DiskOptions {
  path: string;
  thread: RestingThread;
  log: Log;
  metrics: Metrics;
  retention: Retention;
  times: DiskTimes;
  /** Above this many buffered rows the oldest are dropped. */
  maxWaiting?: number;
  /** A batch is in the database. */
  written?(): void;
}

export const TIMES: DiskTimes = {
  batchMs: 250,
  idleMs: 120_000,
  retryMs: 1_000,
  maxRetryMs: 60_000,
  firstPruneMs: 5_000,
  pruneMs: 3_600_000,
  closeMs: 1_500,
};
const MAX_BATCH = 500;
/** At most about 10 MB: a row has up to 2 KB of payload, and less than that of other columns. */
const MAX_WAITING = 4_000;

export class DiskRows implements Rows {
  readonly #options: DiskOptions;
  readonly #times: DiskTimes;
  readonly #maxWaiting: number;
  readonly #counters: DiskCounters;
  /** Oldest first. Rows being written are in `#writing` until the thread replies. */
  #waiting: Row[] = [];
  #writing: Row[] = [];
  #written: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #pruneTimers: NodeJS.Timeout[];
  #failures = 0;
  #cannotRead = false;
  #closing: Promise<void> | undefined;
  /** The rest has been counted as lost; no more retries. */
  #isOver = false;

  constructor(options: DiskOptions) {
    this.#options = options;
    this.#times = options.times;
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING;
    this.#counters = declareCounters(options.metrics);
    const { metrics } = options;
    metrics.gauge(
      "blemees_observe_rows_waiting",
      "Rows not yet in observability.db.",
      () => this.#waiting.length + this.#writing.length,
    );
    const prune = () => void this.prune();
    this.#pruneTimers = [
      setTimeout(prune, this.#times.firstPruneMs),
      setInterval(prune, this.#times.pruneMs),
    ].map((timer) => timer.unref());
  }

  add(row: Row): void {
    if (this.#closing !== undefined) return;
    if (row.kind === "forget") {
      const { session_id } = row.row;
      this.#waiting = this.#waiting.filter(
        (waiting) => isUsage(waiting) || waiting.row.session_id !== session_id,
      );
    }
    this.#waiting.push(row);
    if (this.#waiting.length > this.#maxWaiting) this.#drop();
    if (this.#waiting.length >= MAX_BATCH && this.#failures === 0) void this.#flush();
    else this.#schedule(this.#times.batchMs);
  }

  async page(query: RowQuery): Promise<(EventRow & { id?: number })[]> {
    let stored: StoredRow[] = [];
    // The thread answers in order, so rows flushed now are in the reply.
    void this.#flush();
    if (this.#hasFile()) {
      try {
        stored = await this.#read("page", query);
      } catch {
        // Reported; rows in memory are still returned.
      }
    }
    if (query.before !== undefined) return stored;
    const unstored = selectNewestFirst([...this.#writing, ...this.#waiting], query);
    return [...unstored, ...stored].slice(0, query.limit);
  }

  async newest(session_ids: readonly string[]): Promise<EventRow[][]> {
    return this.#hasFile() ? this.#read("newest", session_ids) : [];
  }

  async stats(query: StatsQuery): Promise<ObservedStats> {
    void this.#flush();
    // Rows being written may already be in the reply; toStats counts them once.
    const unstored = [...this.#writing, ...this.#waiting].filter(isEvent).map(dropPayload);
    if (!this.#hasFile()) return toStats(unstored, query);
    try {
      return await this.#read("stats", { ...query, unstored });
    } catch {
      return toStats(unstored, query); // reported; rows in memory still count
    }
  }

  async usage(query: UsageQuery): Promise<ObservedUsage> {
    void this.#flush();
    const unstored = [...this.#writing, ...this.#waiting].flatMap((row) =>
      row.kind === "usage" ? [row.row] : [],
    );
    if (this.#hasFile()) return this.#read("usage", { ...query, unstored });
    return { slices: mergeSlices(sliceRows(unstored, query)) };
  }

  /** Logs a failure once until a read succeeds again: lists of sessions ask every second. */
  async #read<K extends "page" | "newest" | "stats" | "usage">(
    op: K,
    order: Ops[K]["order"],
  ): Promise<Ops[K]["reply"]> {
    try {
      const reply = await this.#options.thread.ask(op, order);
      this.#cannotRead = false;
      return reply;
    } catch (error) {
      if (!this.#cannotRead) this.#options.log.warn("observe.read_failed", { message: toMessage(error) });
      this.#cannotRead = true;
      throw error;
    }
  }

  /** Also runs periodically. Never rejects. */
  async prune(): Promise<void> {
    if (!this.#hasFile() || this.#closing !== undefined) return;
    const { log, retention } = this.#options;
    const beganMs = readMonotonicMs();
    try {
      const counts = await this.#options.thread.ask("prune", retention);
      const durationMs = readMonotonicMs() - beganMs;
      this.#counters.pruned.add(counts.tool, { table: "tool_events" });
      this.#counters.pruned.add(counts.turn, { table: "turn_events" });
      this.#counters.prunes.add();
      this.#counters.pruneSeconds.add(durationMs / 1000);
      log.info("observe.pruned", {
        tool_rows: counts.tool,
        turn_rows: counts.turn,
        duration_ms: Math.round(durationMs),
      });
    } catch (error) {
      log.error("observe.prune_failed", { message: toMessage(error) });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of [...this.#pruneTimers, this.#timer]) clearTimeout(timer);
    let limit: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, this.#times.closeMs);
    });
    await Promise.race([this.#writeRest(), isOver]);
    for (const timer of [limit, this.#timer]) clearTimeout(timer);
    this.#countLost([...this.#writing, ...this.#waiting].filter(isCounted).length, "the daemon is stopping");
    this.#waiting = [];
    this.#isOver = true;
  }

  /** Tries once more to write the rest. */
  async #writeRest(): Promise<void> {
    await this.#written;
    while (this.#waiting.length > 0) {
      const before = this.#waiting.length;
      await this.#flush();
      if (this.#waiting.length >= before) break;
    }
  }

  /** Writes one batch at a time. Never rejects. */
  #flush(): Promise<void> {
    if (this.#waiting.length === 0) return this.#written ?? Promise.resolve();
    this.#written ??= this.#writeBatch().finally(() => {
      this.#written = undefined;
      if (this.#waiting.length > 0) this.#schedule(this.#failures > 0 ? this.#retryMs() : 0);
    });
    return this.#written;
  }

  async #writeBatch(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting.splice(0, MAX_BATCH);
    this.#writing = batch;
    try {
      const { refused } = await this.#options.thread.ask("write", batch);
      this.#writing = [];
      this.#failures = 0;
      this.#options.written?.();
      this.#counters.rows.add(batch.filter(isEvent).length - refused);
      this.#countLost(refused, "the database rejected them");
    } catch (error) {
      this.#writing = [];
      this.#requeue(batch, toMessage(error));
    }
  }

  #requeue(batch: Row[], message: string): void {
    if (this.#isOver) return;
    this.#failures += 1;
    this.#counters.writeErrors.add();
    if (this.#failures === 1)
      this.#options.log.error("observe.write_failed", { message, rows: batch.length });
    const forgotten = new Set(this.#waiting.filter(isForget).map(({ row }) => row.session_id));
    const left = batch.filter((row) => isUsage(row) || !forgotten.has(row.row.session_id));
    this.#waiting = [...left, ...this.#waiting];
    if (this.#waiting.length > this.#maxWaiting) this.#drop();
  }

  #retryMs(): number {
    return Math.min(this.#times.retryMs * 2 ** (this.#failures - 1), this.#times.maxRetryMs);
  }

  #schedule(afterMs: number): void {
    if (this.#timer !== undefined || this.#written !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, afterMs);
    this.#timer.unref();
  }

  /** Drops the oldest rows, a tenth at once, but keeps the orders to forget a session. */
  #drop(): void {
    const surplus = this.#waiting.length - this.#maxWaiting + Math.ceil(this.#maxWaiting / 10);
    const dropped = this.#waiting.slice(0, surplus);
    this.#waiting = [...dropped.filter(isForget), ...this.#waiting.slice(surplus)];
    const why = this.#failures > 0 ? "writes fail" : "rows arrive faster than they can be written";
    this.#countLost(dropped.filter(isCounted).length, why);
  }

  #countLost(rows: number, why: string): void {
    if (rows <= 0) return;
    this.#counters.dropped.add(rows);
    this.#options.log.warn("observe.rows_dropped", { rows, why });
  }

  /** A query alone does not create the file. */
  #hasFile(): boolean {
    return this.#written !== undefined || existsSync(this.#options.path);
  }
}

interface DiskCounters {
  rows: Counter;
  dropped: Counter;
  writeErrors: Counter;
  pruned: Counter;
  prunes: Counter;
  pruneSeconds: Counter;
}

function declareCounters(metrics: Metrics): DiskCounters {
  const pruned = metrics.counter("blemees_observe_pruned_rows_total", "Rows removed by retention.");
  for (const table of ["tool_events", "turn_events"]) pruned.add(0, { table });
  return {
    rows: metrics.counter("blemees_observe_rows_total", "Rows written to observability.db."),
    dropped: metrics.counter("blemees_observe_rows_dropped_total", "Rows that were dropped."),
    writeErrors: metrics.counter("blemees_observe_write_errors_total", "Batches that could not be written."),
    pruned,
    prunes: metrics.counter("blemees_observe_prunes_total", "Number of retention runs."),
    pruneSeconds: metrics.counter("blemees_observe_prune_seconds_total", "Time spent on retention."),
  };
}

function isEvent(row: Row): row is EventRow {
  return row.kind === "tool" || row.kind === "turn";
}

function dropPayload({ kind, row }: EventRow): EventRow {
  const { raw_payload_json: _, ...rest } = row;
  return { kind, row: rest } as EventRow;
}

function isCounted(row: Row): boolean {
  return isEvent(row) || isUsage(row);
}

function isUsage(row: Row): boolean {
  return row.kind === "usage";
}

function isForget(row: Row): row is Extract<Row, { kind: "forget" }> {
  return row.kind === "forget";
}
