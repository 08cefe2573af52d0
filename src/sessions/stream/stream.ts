// One session's event stream: assigns `seq`, keeps the ring, feeds subscribers. Frames enter only through publish.ts.
// Each frame is serialized once, for store, ring and all subscribers.
import { Ring } from "../../base/ring.ts";
import type { RunMark } from "../../base/runs/mark.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { LogBatch, Store } from "../../store/types.ts";
import type { Batch } from "../types.ts";
import type { Feed } from "./feed.ts";
import { type LostFrame, LostFrames } from "./lost-frames.ts";

/** Bytes waiting for the store; beyond this the agent is paused. */
const MAX_PENDING_CHARS = 128 * 1024;
/** Delay before a failed write is retried, if nothing else is written; doubled each time. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export interface StreamOptions {
  row: SessionRow;
  ringSize: number;
  store: Store;
  /** The stream is full, or has room again. */
  pressure(): void;
  /** The store is behind (`isOwed`) and may accept writes now: save the row. */
  owed?(): void;
}

/** Frames with the time at which they were stored. */
export interface TimedBatch extends Batch {
  readonly at_ms: number;
  run?: RunMark;
}

/** A ledger row on its way to the store, with the frame that announces it. */
export interface RequestWrite {
  row: RequestRow;
  /** Shown only once the row is stored; undefined if there is nothing to announce. */
  tail: string | undefined;
  whenSettled(failure: string | undefined): void;
}

/** What one flush takes from a stream. */
export interface Taken {
  batch: TimedBatch;
  row: SessionRow | undefined;
  requests: RequestWrite[];
  sync: boolean;
  tails: string[];
  /** How many of the leading tails report lost frames instead of being the agent's. */
  notices: number;
}

type LostNotice = (backend: string, lost: number | undefined, after_seq: number) => object;

export class Stream {
  readonly row: SessionRow;
  readonly ring: Ring<TimedBatch>;
  readonly feeds = new Set<Feed>();
  /** How far the agent's output was read; stored with the frames that came from it. */
  mark: (() => RunMark | undefined) | undefined;
  /** Turn of the frame after `seq`, where the last page ended. */
  turnMark: { seq: number; turn_id: string | null } | undefined;
  readonly #store: Store;
  readonly #ringSize: number;
  readonly #head: string;
  /** A reader may have become too slow, or caught up: the session re-evaluates backpressure. */
  readonly pressure: () => void;
  /** Frames without envelope: `,"type":…}`. */
  #tails: string[] = [];
  #pendingChars = 0;
  #requests: RequestWrite[] = [];
  #sync = false;
  #rowChanged = false;
  /** The last write of the row failed; it is repeated with the next one. */
  #rowOwed = false;
  #lost = 0;
  readonly #lostFrames = new LostFrames();
  readonly #owed: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = RETRY_MS;
  readonly #ears = new Set<() => void>();
  #isClosed = false;
  #settled: (() => void)[] = [];
  #inFlight = false;

  constructor(options: StreamOptions) {
    this.row = options.row;
    this.ring = new Ring(options.ringSize);
    this.#store = options.store;
    this.#ringSize = options.ringSize;
    this.pressure = options.pressure;
    this.#owed = options.owed?.bind(options);
    this.#head = `{"session_id":${JSON.stringify(options.row.session_id)}`;
  }

  get session_id(): string {
    return this.row.session_id;
  }

  /** The newest seq that clients may know. */
  get last_seq(): number {
    return this.row.last_seq;
  }

  get hasWork(): boolean {
    return this.#tails.length > 0 || this.#rowChanged || this.#requests.length > 0;
  }

  /** The current row could not be stored; it is repeated with the next write. */
  get isRowOwed(): boolean {
    return this.#rowOwed;
  }

  /** Lost frames have not been reported yet, or the row is newer than the stored one. */
  get isOwed(): boolean {
    return this.#lost > 0 || this.#rowOwed;
  }

  /** The seq after which frames were last lost since the start; absent if none were. */
  get lostAfter(): number | undefined {
    return this.#lostFrames.after_seq;
  }

  get isOverfull(): boolean {
    return this.#pendingChars > MAX_PENDING_CHARS;
  }

  add(frame: object, sync: boolean): void {
    const tail = serializeTail(frame, this.row.backend);
    this.#tails.push(tail);
    this.#pendingChars += tail.length;
    if (sync) this.#sync = true;
    if (this.isOverfull) this.pressure();
  }

  /** Stored together with its frame, which is not sent if that fails. */
  addRequest(row: RequestRow, frame: object | undefined, settled: RequestWrite["whenSettled"]): void {
    if (frame !== undefined) this.add(frame, true);
    this.#requests.push({
      row,
      tail: frame === undefined ? undefined : this.#tails.at(-1),
      whenSettled: settled,
    });
  }

  /** Everything added so far came from output up to the mark as it is now. */
  keepMark(): void {
    const now = this.mark?.();
    this.mark = () => now;
  }

  /** The row differs from the stored one; it is written with the next flush, in the same transaction. */
  touchRow(): void {
    this.#rowChanged = true;
  }

  /** Everything added so far is stored (or known to be lost) and was sent. */
  get isSettled(): boolean {
    return !this.#inFlight && !this.hasWork;
  }

  /** Resolves when everything added so far is stored (or known to be lost) and was sent. */
  settled(): Promise<void> {
    if (this.isSettled) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  take(lostNotice: LostNotice): Taken {
    const { lost_after, last_seq } = this.row;
    let tails = this.#tails;
    let notices = 0;
    if (lost_after !== undefined || this.#lost > 0) {
      const lost = this.#lostTails(lostNotice, lost_after);
      notices = lost.length;
      tails = [...lost, ...tails];
    }
    let seq = last_seq;
    let text = "";
    const head = `${this.#head},"seq":`;
    for (const tail of tails) {
      seq += 1;
      text += `${head}${seq}${tail}\n`;
    }
    const batch: TimedBatch = {
      session_id: this.session_id,
      first_seq: last_seq + 1,
      last_seq: seq,
      at_ms: Date.now(),
      bytes: Buffer.from(text),
    };
    const run = tails.length === 0 ? undefined : this.mark?.();
    if (run !== undefined) batch.run = run; // mutation: mark-with-its-frames
    const taken: Taken = {
      batch,
      // The store knows its last seq, so the row is written only if something else in it changed.
      row: this.#rowChanged || this.#rowOwed ? this.#rowAt(seq) : undefined,
      requests: this.#requests,
      sync: this.#sync,
      tails,
      notices,
    };
    this.#tails = [];
    this.#requests = [];
    this.#sync = false;
    this.#rowChanged = false;
    this.#rowOwed = false;
    this.#inFlight = true;
    return taken;
  }

  #lostTails(lostNotice: LostNotice, lost_after: number | undefined): string[] {
    const { backend, last_seq } = this.row;
    const lost: object[] = [];
    if (lost_after !== undefined) lost.push(lostNotice(backend, undefined, lost_after));
    if (this.#lost > 0) lost.push(lostNotice(backend, this.#lost, last_seq));
    return lost.map((notice) => `,${JSON.stringify(notice).slice(1)}`);
  }

  /** The row to store with the frames up to `seq`. */
  #rowAt(seq: number): SessionRow {
    const row = { ...this.row, last_seq: seq };
    if (row.lost_after !== undefined) delete row.lost_after;
    return row;
  }

  /** The write has finished: send the frames, with their seq or marked as not stored. */
  settle(taken: Taken, failure: string | undefined, rowFailure: string | undefined, unstored?: string): void {
    this.#inFlight = false;
    if (rowFailure !== undefined) this.#rowOwed = true;
    const wasOverfull = this.isOverfull;
    const tails = taken.notices === 0 ? taken.tails : taken.tails.slice(taken.notices);
    for (const tail of tails) this.#pendingChars -= tail.length;
    if (taken.tails.length > 0) {
      if (failure === undefined) this.#addStored(taken.batch);
      else {
        const shown = tails.filter((tail) => !taken.requests.some((request) => request.tail === tail)); // mutation: refused-notice-not-shown
        this.#notStored(shown, taken.batch.at_ms);
      }
    }
    if (this.isOwed) this.#retryLater();
    else if (this.#retryMs !== RETRY_MS) this.#stopRetrying();
    for (const request of taken.requests) request.whenSettled(unstored);
    if (wasOverfull && !this.isOverfull) this.pressure();
    if (!this.hasWork) for (const resolve of this.#settled.splice(0)) resolve();
  }

  /** Where a reader of the ring starts; after a restart, the store's tail replaces the ring. */
  get ringStart(): number {
    if (this.#store.durable) return Math.max(0, this.last_seq - this.#ringSize);
    return (this.ring.firstSeq ?? this.last_seq + 1) - 1;
  }

  /** Frees the frames that the store can return. */
  dropStored(): void {
    if (this.#store.durable) this.ring.clear();
  }

  /** Stored frames after `after_seq`, from the ring or, where it does not reach, from the store. */
  async after(after_seq: number, maxBytes: number): Promise<TimedBatch | LogBatch | undefined> {
    const inRing = this.ring.firstSeq;
    if (inRing !== undefined && inRing <= after_seq + 1) return this.ring.after(after_seq);
    if (!this.#store.durable) return this.ring.after(after_seq);
    const fromLog = await this.#store.read(this.session_id, after_seq, maxBytes);
    return fromLog ?? this.ring.after(after_seq);
  }

  /** Frames lost after `after_seq`, as far as they are still in memory. */
  lostSince(after_seq: number): LostFrame[] {
    return this.#lostFrames.since(after_seq);
  }

  /**
   * Calls `ear` whenever frames are stored or lost, and when the stream is closed. Returns the unsubscribe function.
   */
  onNews(ear: () => void): () => void {
    this.#ears.add(ear);
    return () => void this.#ears.delete(ear);
  }

  /** No more writes: ends waits, and retries nothing. */
  close(): void {
    this.#isClosed = true;
    this.#stopRetrying();
    this.#lostFrames.close();
    this.#tellNews();
  }

  #addStored(batch: TimedBatch): void {
    if (this.#lost > 0) {
      this.#lost = 0;
      this.#lostFrames.markRecovered();
    }
    if (this.row.lost_after !== undefined) delete this.row.lost_after;
    this.row.last_seq = batch.last_seq;
    this.ring.push(batch);
    for (const feed of this.feeds) feed.deliver(batch);
    this.#tellNews();
  }

  /** Sent without seq, counted, and reported by a notice once writes succeed again. */
  #notStored(tails: string[], at_ms: number): void {
    if (tails.length === 0) return;
    this.#lost += tails.length;
    const lines = tails.map((tail) => `${this.#head},"persisted":false${tail}\n`);
    this.#lostFrames.add(lines, this.row.last_seq, at_ms);
    const text = lines.join("");
    const batch: Batch = { session_id: this.session_id, first_seq: 0, last_seq: 0, bytes: Buffer.from(text) };
    for (const feed of this.feeds) feed.deliver(batch);
    this.#tellNews();
  }

  #tellNews(): void {
    if (this.#ears.size > 0) for (const ear of [...this.#ears]) ear();
  }

  /** Everything is stored. A retry that still waits was put off by earlier failures; the next loss must not wait for it. */
  #stopRetrying(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#retryMs = RETRY_MS;
  }

  /** Otherwise a session that stays silent would never report its lost frames. */
  #retryLater(): void {
    if (this.#owed === undefined || this.#retry !== undefined || this.#isClosed) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.isOwed && !this.#isClosed) this.#owed?.();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }
}

/** The frame's text after its envelope. An agent can send values that cannot be serialized (nesting too deep). */
function serializeTail(frame: object, backend: string): string {
  try {
    return `,${JSON.stringify(frame).slice(1)}`;
  } catch (error) {
    const notice = {
      type: "agent.notice",
      backend,
      level: "error",
      category: "event_unserialisable",
      text: `an event of the agent could not be serialized: ${(error as Error).message}`,
    };
    return `,${JSON.stringify(notice).slice(1)}`;
  }
}
