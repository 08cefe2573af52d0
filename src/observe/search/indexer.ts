// Keeps search.db in step with the history: follows each session's log from where it is indexed, whether the daemon has just
// written it, an earlier one did, or an older version that had no index. Off the path of events, in small steps with pauses.
import { existsSync } from "node:fs";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Counter, Metrics } from "../../base/metrics.ts";
import { readMonotonicMs } from "../../base/monotonic.ts";
import { defined } from "../../base/values.ts";
import type { RestingThread } from "../resting-thread.ts";
import { findProject } from "../usage.ts";
import type { Candidate, FindOrder, History, HistoryRow, SessionFacts, TranscriptIndex } from "./types.ts";

export interface IndexerTimes {
  /** How long the frames of a session are collected. */
  settleMs: number;
  /** When to look for history that is not indexed. */
  sweepMs: number;
  /** After a failure. */
  retryMs: number;
}

export interface IndexerOptions {
  /** search.db */
  path: string;
  history: History;
  thread: RestingThread;
  log: Log;
  metrics: Metrics;
  times: IndexerTimes;
}

export const INDEXER_TIMES: IndexerTimes = { settleMs: 500, sweepMs: 3_000, retryMs: 10_000 };

/** Read and indexed at once: about 10 ms in either thread. */
const PART_BYTES = 128 * 1024;
const ROWS_AT_ONCE = 200;
/** After each step, that many times as long: indexing takes a third of one core. */
const PAUSE_FACTOR = 2;
const MIN_PAUSE_MS = 2;
const MAX_PAUSE_MS = 1_000;

interface Position {
  indexed_seq: number;
  first_seq: number;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly #counters: { frames: Counter; failures: Counter };
  /** How far sessions are indexed; loaded before the first step. */
  #positions: Map<string, Position> | undefined;
  /** Sessions with history that is not indexed: those of this daemon first. */
  readonly #fresh = new Map<string, SessionFacts>();
  readonly #old = new Map<string, SessionFacts>();
  /** Sessions that were deleted, or whose oldest frames were. */
  readonly #removals: { session_id: string; before_seq?: number }[] = [];
  #isTidy = false;
  /** The session whose frames are being read, and what has happened to it since. */
  #current: { session_id: string; isGone: boolean; hasMore: boolean } | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #closing = new AbortController();

  constructor(options: IndexerOptions) {
    this.#options = options;
    const { metrics, times } = options;
    this.#counters = {
      frames: metrics.counter(
        "blemees_search_frames_total",
        "Frames that were added to search.db, or had no text.",
      ),
      failures: metrics.counter("blemees_search_failures_total", "Steps of indexing that failed."),
    };
    metrics.gauge(
      "blemees_search_unindexed_sessions",
      "Sessions with history that is not searched yet.",
      () => this.unindexed,
    );
    this.#sweepTimer = setTimeout(() => void this.sweep(), times.sweepMs);
    this.#sweepTimer.unref();
  }

  /** Sessions with history that is not searched yet. */
  get unindexed(): number {
    return this.#fresh.size + this.#old.size;
  }

  /** A frame of the session was published. */
  note(session_id: string, facts: SessionFacts): void {
    if (this.#current?.session_id === session_id) this.#current.hasMore = true;
    if (this.#fresh.has(session_id)) return;
    this.#fresh.set(session_id, facts);
    this.#old.delete(session_id);
    this.#schedule(this.#options.times.settleMs);
  }

  forget(session_id: string): void {
    this.#fresh.delete(session_id);
    this.#old.delete(session_id);
    if (this.#current?.session_id === session_id) this.#current.isGone = true;
    this.#removals.push({ session_id });
    this.#schedule(0);
  }

  find(order: FindOrder): Promise<Candidate[]> {
    return this.#options.thread.ask("find", order);
  }

  /** The part of the index that `sessions` fills: transcripts. */
  readonly transcripts: TranscriptIndex = {
    positions: () => this.#options.thread.ask("transcripts", undefined),
    index: (order) => this.#options.thread.ask("index_transcript", order),
    remove: async (key) => {
      await this.#options.thread.ask("remove", { session_id: key });
      this.#isTidy = false;
      this.#schedule(0);
    },
  };

  /** Compares the index with all of the history: at the start, and after old frames were removed. Never rejects. */
  async sweep(): Promise<void> {
    try {
      const positions = await this.#loadPositions();
      // An earlier daemon may not have finished.
      if (positions.size > 0) this.#isTidy = false;
      await this.#findGone(positions);
      await this.#findNew(positions);
    } catch (error) {
      this.#counters.failures.add();
      this.#options.log.warn("search.sweep_failed", { message: toMessage(error) });
    }
    this.#schedule(0);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#sweepTimer);
    await this.#running;
  }

  /** What the history no longer has. */
  async #findGone(positions: ReadonlyMap<string, Position>): Promise<void> {
    for (const [session_id, { first_seq }] of positions) {
      if (this.#isClosed) return;
      const earliest = await this.#options.history.earliest(session_id);
      if (earliest === undefined) this.#removals.push({ session_id });
      else if (earliest > first_seq) this.#removals.push({ session_id, before_seq: earliest });
    }
  }

  async #findNew(positions: ReadonlyMap<string, Position>): Promise<void> {
    let after: HistoryRow | undefined;
    do {
      const rows = await this.#options.history.rows({ limit: ROWS_AT_ONCE, ...defined({ after }) });
      for (const { session_id, last_seq, ...facts } of rows) {
        const indexed = positions.get(session_id)?.indexed_seq ?? 0;
        // An earlier copy of the history was restored.
        if (last_seq < indexed) this.#removals.push({ session_id });
        if (last_seq !== indexed && !this.#fresh.has(session_id)) this.#old.set(session_id, facts);
      }
      after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
    } while (after !== undefined && !this.#isClosed);
  }

  async #loadPositions(): Promise<Map<string, Position>> {
    if (this.#positions === undefined && !existsSync(this.#options.path)) {
      this.#positions = new Map();
      this.#isTidy = true;
    }
    if (this.#positions === undefined) {
      const found = await this.#options.thread.ask("positions", undefined);
      this.#positions ??= new Map(found.map(({ session_id, ...position }) => [session_id, position]));
    }
    return this.#positions;
  }

  #schedule(afterMs: number): void {
    if (this.#running !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        if (this.#hasWork) this.#schedule(this.#options.times.settleMs);
      });
    }, afterMs);
    this.#timer.unref();
  }

  get #hasWork(): boolean {
    return this.unindexed > 0 || this.#removals.length > 0 || !this.#isTidy;
  }

  async #run(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.#isClosed; ) {
        const beganMs = readMonotonicMs();
        isMore = await this.#step();
        await this.#pause(PAUSE_FACTOR * (readMonotonicMs() - beganMs));
      }
    } catch (error) {
      this.#counters.failures.add();
      this.#options.log.warn("search.index_failed", { message: toMessage(error) });
      await this.#pause(this.#options.times.retryMs, this.#options.times.retryMs);
    }
  }

  /** Returns whether there is more to do. */
  async #step(): Promise<boolean> {
    const [removal] = this.#removals;
    if (removal !== undefined) {
      await this.#options.thread.ask("remove", removal);
      await this.#noteRemoved(removal);
      return true;
    }
    const [next] = this.#fresh.size > 0 ? this.#fresh : this.#old;
    if (next !== undefined) {
      await this.#indexPart(...next);
      return true;
    }
    if (this.#isTidy) return false;
    const isMore = await this.#options.thread.ask("tidy", undefined);
    if (!isMore) this.#isTidy = true;
    return isMore;
  }

  async #noteRemoved(removal: { session_id: string; before_seq?: number }): Promise<void> {
    const positions = await this.#loadPositions();
    const position = positions.get(removal.session_id);
    if (removal.before_seq === undefined) positions.delete(removal.session_id);
    else if (position !== undefined) position.first_seq = removal.before_seq;
    this.#removals.splice(this.#removals.indexOf(removal), 1);
    this.#isTidy = false;
  }

  async #indexPart(session_id: string, facts: SessionFacts): Promise<void> {
    const positions = await this.#loadPositions();
    const current = { session_id, isGone: false, hasMore: false };
    this.#current = current;
    const after = positions.get(session_id)?.indexed_seq ?? 0;
    const part = await this.#options.history.read(session_id, after, PART_BYTES);
    if (current.isGone) return;
    if (part !== undefined) {
      const order = {
        session_id,
        ...defined({ agent: facts.backend, project: findProject(facts) }),
        ...part,
      };
      const { session_id: _, ...position } = await this.#options.thread.ask("index", order);
      positions.set(session_id, position);
      this.#counters.frames.add(part.last_seq - part.first_seq + 1);
    } else if (!current.hasMore) {
      this.#fresh.delete(session_id);
      this.#old.delete(session_id);
    }
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #pause(wantedMs: number, maxMs = MAX_PAUSE_MS): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#closing.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(maxMs, Math.max(MIN_PAUSE_MS, wantedMs)));
      timer.unref();
      this.#closing.signal.addEventListener("abort", done, { once: true });
    });
  }
}
