// Rows on their way to observability.db: collected, written in batches by a thread that lives only while there is work,
// tried again when the disk does not take them, and bounded meanwhile. Nobody on the path of events waits for any of it.
import { existsSync } from "node:fs";
import { messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Counter, Metrics } from "../base/metrics.ts";
import { newestFirst } from "./memory-rows.ts";
import type { EventRow, Retention, Row, RowQuery, Rows, StoredRow } from "./rows.ts";
import { toStats } from "./stats.ts";
import { ObserveThread } from "./thread.ts";
import type { ObservedStats, StatsQuery } from "./types.ts";
import type { Op, Ops } from "./worker-calls.ts";

export interface DiskTimes {
  /** How long rows are collected before they are written. */
  batchMs: number;
  /** A thread without work is ended after this. */
  idleMs: number;
  /** Between two tries when the disk took nothing; doubled up to `maxRetryMs`. */
  retryMs: number;
  maxRetryMs: number;
  /** Pruning after the start, and from then on. */
  firstPruneMs: number;
  pruneMs: number;
  /** For what waits, and again for the thread to end. */
  closeMs: number;
}

export interface DiskOptions {
  path: string;
  workerUrl: URL;
  log: Log;
  metrics: Metrics;
  retention: Retention;
  times?: Partial<DiskTimes>;
  /** Rows that wait; past this the oldest are dropped. */
  maxWaiting?: number;
}

const TIMES: DiskTimes = {
  batchMs: 250,
  idleMs: 120_000,
  retryMs: 1_000,
  maxRetryMs: 60_000,
  firstPruneMs: 5_000,
  pruneMs: 3_600_000,
  closeMs: 1_500,
};
const MAX_BATCH = 500;
/** Some 10 MB at most: a row is 2 KB of payload and less than that beside it. */
const MAX_WAITING = 4_000;

export class DiskRows implements Rows {
  readonly #options: DiskOptions;
  readonly #times: DiskTimes;
  readonly #maxWaiting: number;
  readonly #counters: DiskCounters;
  #thread: ObserveThread | undefined;
  /** Oldest first. What is being written stands in `#writing` until the thread has answered. */
  #waiting: Row[] = [];
  #writing: Row[] = [];
  #written: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #pruneTimers: NodeJS.Timeout[];
  /** The thread has nothing to do and is ending; the next one starts when the file is free. */
  #resting: Promise<void> | undefined;
  #failures = 0;
  #cannotRead = false;
  #pending = 0;
  #closing: Promise<void> | undefined;
  /** What is left has been counted as lost; nothing is tried again. */
  #isOver = false;

  constructor(options: DiskOptions) {
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING;
    this.#counters = declareCounters(options.metrics);
    const { metrics } = options;
    metrics.gauge(
      "blemees_observe_rows_waiting",
      "Rows that are not in observability.db yet.",
      () => this.#waiting.length + this.#writing.length,
    );
    metrics.gauge("blemees_observe_thread_running", "1 while observability.db is open.", () =>
      this.#thread === undefined ? 0 : 1,
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
      this.#waiting = this.#waiting.filter((waiting) => waiting.row.session_id !== session_id);
    }
    this.#waiting.push(row);
    if (this.#waiting.length > this.#maxWaiting) this.#drop();
    if (this.#waiting.length >= MAX_BATCH && this.#failures === 0) void this.#flush();
    else this.#schedule(this.#times.batchMs);
  }

  async page(query: RowQuery): Promise<(EventRow & { id?: number })[]> {
    let stored: StoredRow[] = [];
    // The thread answers in order: what is handed over first is in the answer.
    void this.#flush();
    if (this.#hasFile()) {
      try {
        stored = await this.#read("page", query);
      } catch {
        // Told; what is in memory is still there.
      }
    }
    if (query.before !== undefined) return stored;
    const unstored = newestFirst([...this.#writing, ...this.#waiting], query);
    return [...unstored, ...stored].slice(0, query.limit);
  }

  async newest(): Promise<EventRow[][]> {
    return this.#hasFile() ? this.#read("newest", undefined) : [];
  }

  async stats(query: StatsQuery): Promise<ObservedStats> {
    void this.#flush();
    // What is being written may be in the answer already; that it counts once is up to the sum.
    const unstored = [...this.#writing, ...this.#waiting].filter(isEvent).map(withoutPayload);
    if (!this.#hasFile()) return toStats(unstored, query);
    try {
      return await this.#read("stats", { ...query, unstored });
    } catch {
      return toStats(unstored, query); // told; what is in memory is still there
    }
  }

  /** That it fails is told once until it goes well again: lists of sessions ask every second. */
  async #read<K extends "page" | "newest" | "stats">(
    op: K,
    order: Ops[K]["order"],
  ): Promise<Ops[K]["reply"]> {
    try {
      const reply = await this.#ask(op, order);
      this.#cannotRead = false;
      return reply;
    } catch (error) {
      if (!this.#cannotRead) this.#options.log.warn("observe.read_failed", { message: messageOf(error) });
      this.#cannotRead = true;
      throw error;
    }
  }

  /** Also by the clock. Never rejects. */
  async prune(): Promise<void> {
    if (!this.#hasFile() || this.#closing !== undefined) return;
    const { log, retention } = this.#options;
    const beganMs = performance.now();
    try {
      const counts = await this.#ask("prune", retention);
      const durationMs = performance.now() - beganMs;
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
      log.error("observe.prune_failed", { message: messageOf(error) });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of [...this.#pruneTimers, this.#timer, this.#idleTimer]) clearTimeout(timer);
    let limit: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, this.#times.closeMs);
    });
    await Promise.race([this.#writeRest(), isOver]);
    for (const timer of [limit, this.#timer, this.#idleTimer]) clearTimeout(timer);
    this.#lose([...this.#writing, ...this.#waiting].filter(isEvent).length, "the daemon stops");
    this.#waiting = [];
    this.#isOver = true;
    await this.#resting;
    await this.#thread?.close(this.#times.closeMs);
    this.#thread = undefined;
  }

  /** One more try for what is left, whatever the last one said. */
  async #writeRest(): Promise<void> {
    await this.#written;
    while (this.#waiting.length > 0) {
      const before = this.#waiting.length;
      await this.#flush();
      if (this.#waiting.length >= before) break;
    }
  }

  /** One batch is on its way at a time. Never rejects. */
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
      const { refused } = await this.#ask("write", batch);
      this.#writing = [];
      this.#failures = 0;
      this.#counters.rows.add(batch.filter(isEvent).length - refused);
      this.#lose(refused, "the database refuses them");
    } catch (error) {
      this.#writing = [];
      this.#failed(batch, messageOf(error));
    }
  }

  #failed(batch: Row[], message: string): void {
    if (this.#isOver) return;
    this.#failures += 1;
    this.#counters.writeErrors.add();
    if (this.#failures === 1)
      this.#options.log.error("observe.write_failed", { message, rows: batch.length });
    const forgotten = new Set(this.#waiting.filter(isForget).map(({ row }) => row.session_id));
    this.#waiting = [...batch.filter(({ row }) => !forgotten.has(row.session_id)), ...this.#waiting];
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

  /** The oldest go first, a tenth at once; that a session is to be forgotten is not forgotten. */
  #drop(): void {
    const surplus = this.#waiting.length - this.#maxWaiting + Math.ceil(this.#maxWaiting / 10);
    const dropped = this.#waiting.slice(0, surplus);
    this.#waiting = [...dropped.filter(isForget), ...this.#waiting.slice(surplus)];
    const why = this.#failures > 0 ? "the disk does not take them" : "they come faster than they are written";
    this.#lose(dropped.filter(isEvent).length, why);
  }

  #lose(rows: number, why: string): void {
    if (rows <= 0) return;
    this.#counters.dropped.add(rows);
    this.#options.log.warn("observe.rows_dropped", { rows, why });
  }

  async #ask<K extends Op>(op: K, order: Ops[K]["order"]): Promise<Ops[K]["reply"]> {
    clearTimeout(this.#idleTimer);
    this.#pending += 1;
    try {
      await this.#resting;
      return await this.#open().call(op, order);
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0 && this.#closing === undefined) this.#restLater();
    }
  }

  #open(): ObserveThread {
    const { path, workerUrl, log } = this.#options;
    if (this.#thread === undefined || this.#thread.isDead) {
      this.#thread = new ObserveThread({
        path,
        workerUrl,
        onAside: ({ aside, cut_bytes }) => log.warn("observe.recovered", { aside, bytes: cut_bytes }),
        onDeath: (message) => {
          this.#thread = undefined;
          log.error("observe.thread_died", { message });
        },
      });
    }
    return this.#thread;
  }

  #restLater(): void {
    this.#idleTimer = setTimeout(() => {
      const thread = this.#thread;
      this.#thread = undefined;
      this.#resting = thread?.close(this.#times.closeMs).finally(() => {
        this.#resting = undefined;
      });
    }, this.#times.idleMs);
    this.#idleTimer.unref();
  }

  /** A question alone makes no file. */
  #hasFile(): boolean {
    return this.#thread !== undefined || this.#written !== undefined || existsSync(this.#options.path);
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
    dropped: metrics.counter("blemees_observe_rows_dropped_total", "Rows that the disk did not take."),
    writeErrors: metrics.counter("blemees_observe_write_errors_total", "Batches that the disk did not take."),
    pruned,
    prunes: metrics.counter("blemees_observe_prunes_total", "Times that retention ran."),
    pruneSeconds: metrics.counter("blemees_observe_prune_seconds_total", "Time spent on retention."),
  };
}

function isEvent(row: Row): row is EventRow {
  return row.kind === "tool" || row.kind === "turn";
}

function withoutPayload({ kind, row }: EventRow): EventRow {
  const { raw_payload_json: _, ...rest } = row;
  return { kind, row: rest } as EventRow;
}

function isForget(row: Row): row is Extract<Row, { kind: "forget" }> {
  return row.kind === "forget";
}
