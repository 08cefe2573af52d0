// The event stream of one session: gives out `seq`, keeps the ring, feeds the subscribers. Frames enter only
// through publish.ts. A frame is turned into text once, for log, ring and all subscribers.
import { Ring } from "../../base/ring.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { LogBatch, Store } from "../../store/types.ts";
import type { Batch } from "../types.ts";
import type { Feed } from "./feed.ts";
import { type LostFrame, LostFrames } from "./lost-frames.ts";

/** Text that waits for the log; past this the agent is paused. */
const MAX_PENDING_CHARS = 128 * 1024;
/** How long after a failed write the next one is tried, if nothing else is to be written; doubled each time. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export interface StreamOptions {
  row: SessionRow;
  ringSize: number;
  store: Store;
  /** The stream can take no more from the agent, or can again. */
  pressure(): void;
  /** The store owes something (`isOwed`) and may take it by now: whoever may write saves the row. */
  owed?(): void;
}

/** Frames with the time at which they were given to the log. */
export interface TimedBatch extends Batch {
  readonly at_ms: number;
}

/** A row of the ledger on its way to the store, with the frame that tells of it. */
export interface RequestWrite {
  row: RequestRow;
  /** Shown only once the row is stored; undefined when there is nothing to tell. */
  tail: string | undefined;
  settled(failure: string | undefined): void;
}

/** What one flush takes out of a stream. */
export interface Taken {
  batch: TimedBatch;
  row: SessionRow | undefined;
  requests: RequestWrite[];
  sync: boolean;
  tails: string[];
  /** How many of the tails, in front, are not the agent's but tell of lost ones. */
  notices: number;
}

export class Stream {
  readonly row: SessionRow;
  readonly ring: Ring<TimedBatch>;
  readonly feeds = new Set<Feed>();
  /** Which turn the frame behind `seq` belongs to, where the last reader of a page stopped. */
  turnMark: { seq: number; turn_id: string | null } | undefined;
  readonly #store: Store;
  readonly #ringSize: number;
  readonly #head: string;
  /** Somebody may have become too slow, or fast enough again: the session looks and holds its agent or not. */
  readonly pressure: () => void;
  /** Frames without envelope: `,"type":…}`. */
  #tails: string[] = [];
  #pendingChars = 0;
  #requests: RequestWrite[] = [];
  #sync = false;
  #rowChanged = false;
  /** The last write of the row failed; it goes along with the next one. */
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

  /** The newest seq that clients may know of. */
  get last_seq(): number {
    return this.row.last_seq;
  }

  get hasWork(): boolean {
    return this.#tails.length > 0 || this.#rowChanged || this.#requests.length > 0;
  }

  /** The row as it is now could not be stored; it goes along with the next write. */
  get isRowOwed(): boolean {
    return this.#rowOwed;
  }

  /** Frames were lost and that is told nowhere yet, or the row is newer than what is stored. */
  get isOwed(): boolean {
    return this.#lost > 0 || this.#rowOwed;
  }

  /** The seq behind which frames were last lost, in this life; absent when none were. */
  get lostAfter(): number | undefined {
    return this.#lostFrames.after_seq;
  }

  get isOverfull(): boolean {
    return this.#pendingChars > MAX_PENDING_CHARS;
  }

  add(frame: object, sync: boolean): void {
    const tail = tailOf(frame, this.row.backend);
    this.#tails.push(tail);
    this.#pendingChars += tail.length;
    if (sync) this.#sync = true;
    if (this.isOverfull) this.pressure();
  }

  /** Goes to the store together with its frame, which nobody sees if that fails. */
  addRequest(row: RequestRow, frame: object | undefined, settled: RequestWrite["settled"]): void {
    if (frame !== undefined) this.add(frame, true);
    this.#requests.push({ row, tail: frame === undefined ? undefined : this.#tails.at(-1), settled });
  }

  /** The row differs from what is stored; it goes out with the next flush, in the same transaction. */
  touchRow(): void {
    this.#rowChanged = true;
  }

  /** Resolves when everything added so far is in the log (or known to be lost) and was given out. */
  settled(): Promise<void> {
    if (!this.#inFlight && !this.hasWork) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  take(lostNotice: (backend: string, lost: number | undefined, after_seq: number) => object): Taken {
    const { lost_after, ...row } = this.row;
    const lost: object[] = [];
    if (lost_after !== undefined) lost.push(lostNotice(row.backend, undefined, lost_after));
    if (this.#lost > 0) lost.push(lostNotice(row.backend, this.#lost, row.last_seq));
    const notices = lost.length;
    const tails =
      notices === 0
        ? this.#tails
        : [...lost.map((notice) => `,${JSON.stringify(notice).slice(1)}`), ...this.#tails];
    const first_seq = this.row.last_seq + 1;
    let seq = this.row.last_seq;
    let text = "";
    const head = `${this.#head},"seq":`;
    for (const tail of tails) {
      seq += 1;
      text += `${head}${seq}${tail}\n`;
    }
    const batch: TimedBatch = {
      session_id: this.session_id,
      first_seq,
      last_seq: seq,
      at_ms: Date.now(),
      bytes: Buffer.from(text),
    };
    const taken: Taken = {
      batch,
      // The log itself knows its last seq, so the row goes along only when something else in it changed.
      row: this.#rowChanged || this.#rowOwed ? { ...row, last_seq: seq } : undefined,
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

  /** The log has answered: give the frames out, with their seq or marked as not stored. */
  settle(taken: Taken, failure: string | undefined, rowFailure: string | undefined, unstored?: string): void {
    this.#inFlight = false;
    if (rowFailure !== undefined) this.#rowOwed = true;
    const wasOverfull = this.isOverfull;
    const tails = taken.notices === 0 ? taken.tails : taken.tails.slice(taken.notices);
    for (const tail of tails) this.#pendingChars -= tail.length;
    if (taken.tails.length > 0) {
      if (failure === undefined) this.#stored(taken.batch);
      else {
        const shown = tails.filter((tail) => !taken.requests.some((request) => request.tail === tail)); // mutation: refused-notice-not-shown
        this.#notStored(shown, taken.batch.at_ms);
      }
    }
    if (this.isOwed) this.#retryLater();
    else this.#retryMs = RETRY_MS;
    for (const request of taken.requests) request.settled(unstored);
    if (wasOverfull && !this.isOverfull) this.pressure();
    if (!this.hasWork) for (const resolve of this.#settled.splice(0)) resolve();
  }

  /** Where a reader starts that wants what the ring holds; after a restart the log's tail stands for the ring. */
  get ringStart(): number {
    if (this.#store.durable) return Math.max(0, this.last_seq - this.#ringSize);
    return (this.ring.firstSeq ?? this.last_seq + 1) - 1;
  }

  /** Stored frames behind `after_seq`, from the ring or, where it does not reach, from the log. */
  async after(after_seq: number, maxBytes: number): Promise<TimedBatch | LogBatch | undefined> {
    const inRing = this.ring.firstSeq;
    if (inRing !== undefined && inRing <= after_seq + 1) return this.ring.after(after_seq);
    if (!this.#store.durable) return this.ring.after(after_seq);
    const fromLog = await this.#store.read(this.session_id, after_seq, maxBytes);
    return fromLog ?? this.ring.after(after_seq);
  }

  /** What was lost behind `after_seq` or later, as far as it is still in memory. */
  lostSince(after_seq: number): LostFrame[] {
    return this.#lostFrames.since(after_seq);
  }

  /** Calls `ear` whenever there is something new, stored or lost, and when the stream is closed. Gives what ends it. */
  onNews(ear: () => void): () => void {
    this.#ears.add(ear);
    return () => void this.#ears.delete(ear);
  }

  /** Nothing will be written any more: who waits for news is let go, and nothing owed is tried again. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#lostFrames.close();
    this.#tellNews();
  }

  #stored(batch: TimedBatch): void {
    if (this.#lost > 0) {
      this.#lost = 0;
      this.#lostFrames.recovered();
    }
    delete this.row.lost_after;
    this.row.last_seq = batch.last_seq;
    this.ring.push(batch);
    for (const feed of this.feeds) feed.deliver(batch);
    this.#tellNews();
  }

  /** DESIGN R2: shown without seq, counted, and told by a notice once the log takes frames again. */
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

  /** A session that says no more would otherwise never tell what it lost. */
  #retryLater(): void {
    if (this.#owed === undefined || this.#retry !== undefined || this.#isClosed) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.isOwed && !this.#isClosed) this.#owed?.();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }
}

/** The frame's text behind its envelope. An agent can send what cannot be written back (nesting too deep). */
function tailOf(frame: object, backend: string): string {
  try {
    return `,${JSON.stringify(frame).slice(1)}`;
  } catch (error) {
    const notice = {
      type: "agent.notice",
      backend,
      level: "error",
      category: "event_unserialisable",
      text: `an event of the agent could not be kept: ${(error as Error).message}`,
    };
    return `,${JSON.stringify(notice).slice(1)}`;
  }
}
