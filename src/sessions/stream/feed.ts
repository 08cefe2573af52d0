// One subscriber's position in a session's stream. Live: batches are passed on as they come. Behind: it reads from ring
// and store until it has caught up; replay, takeover and slow watchers all work this way. A slow subscriber never
// delays others.
import { type SeqBatch, sliceFrom } from "../../base/ring.ts";
import type { LogBatch } from "../../store/types.ts";
import type { Attachment, Batch, Client, Subscriber } from "../types.ts";
import type { Stream } from "./stream.ts";

const READ_BYTES = 256 * 1024;

export interface FeedOptions {
  client: Client;
  subscriber: Subscriber;
  stream: Stream;
  role: "owner" | "watcher";
  /** The last seq the client has; later frames are delivered. */
  after_seq: number;
}

export class Feed implements Attachment {
  readonly client: Client;
  readonly subscriber: Subscriber;
  #role: "owner" | "watcher";
  /** The client asked to watch. An owner may too: it has one position, and gets each frame once. */
  isWatching: boolean;
  readonly #stream: Stream;
  #cursor: number;
  #live = false;
  #pumping = false;
  /** Nothing is delivered before the reply to the request. */
  #isStarted = false;
  #ended = false;

  constructor(options: FeedOptions) {
    this.client = options.client;
    this.subscriber = options.subscriber;
    this.#role = options.role;
    this.isWatching = options.role === "watcher";
    this.#stream = options.stream;
    this.#cursor = options.after_seq;
    this.#stream.feeds.add(this);
  }

  get role(): "owner" | "watcher" {
    return this.#role;
  }

  /** The last seq passed to the client. */
  get cursor(): number {
    return this.#cursor;
  }

  /** True while the reader is too slow; then the owner's agent is paused. */
  get isFull(): boolean {
    return this.subscriber.isFull();
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** The owner also watches: frames it asked to see again are sent again, from `start` on. */
  watch(last_seen_seq: number | undefined): void {
    this.isWatching = true;
    if (last_seen_seq === undefined || last_seen_seq === this.#cursor) return;
    this.#cursor = last_seen_seq;
    this.#live = false;
    this.#isStarted = false;
  }

  /** Another client has become the owner; this one continues as a watcher, without a gap. */
  demote(): void {
    this.#role = "watcher";
  }

  start(): void {
    if (this.#ended) return;
    this.#isStarted = true;
    if (this.#cursor > this.#stream.last_seq) {
      // The client has seen more than we have: our history was lost or reset, and it must know.
      this.subscriber.gap(this.#cursor, this.#stream.last_seq + 1);
      this.#cursor = this.#stream.last_seq;
    }
    void this.#pump();
  }

  deliver(batch: Batch): void {
    if (!this.#live) return;
    // Read from the store before the write's confirmation arrived.
    if (batch.last_seq > 0 && batch.last_seq <= this.#cursor) return;
    if (this.role === "watcher" && this.isFull) {
      this.#live = false;
      this.subscriber.lagging(this.#cursor, this.#stream.last_seq);
      return;
    }
    this.subscriber.write(this.#rest(batch));
    if (batch.last_seq > 0) this.#cursor = batch.last_seq;
    if (this.role === "owner" && this.isFull) this.#stream.pressure();
  }

  onDrain(): void {
    if (this.role === "owner") this.#stream.pressure();
    void this.#pump();
  }

  end(): void {
    this.#ended = true;
    this.#live = false;
    this.#stream.feeds.delete(this);
  }

  /** The part of the batch the client does not have; all of it, except in the case above. */
  #rest(batch: Batch): Batch {
    if (batch.last_seq === 0 || batch.first_seq > this.#cursor) return batch;
    return sliceFrom(batch, this.#cursor + 1);
  }

  /** A slow owner pauses its agent, also while it reads from the store. */
  #isHeldUp(): boolean {
    const { isFull } = this;
    if (isFull && this.role === "owner") this.#stream.pressure();
    return isFull;
  }

  async #pump(): Promise<void> {
    if (this.#pumping || this.#live || !this.#isStarted) return;
    this.#pumping = true;
    try {
      while (!this.#ended && this.#isStarted && !this.#isHeldUp()) {
        if (this.#cursor >= this.#stream.last_seq) {
          this.#live = true;
          return;
        }
        const from = this.#cursor;
        const chunk = await this.#stream.after(from, READ_BYTES);
        if (this.#ended) return;
        if (this.#cursor === from) this.#hand(chunk);
      }
    } catch {
      // The store cannot be read. Report the gap and continue live.
      this.subscriber.gap(this.#cursor, this.#stream.last_seq + 1);
      this.#cursor = this.#stream.last_seq;
      this.#live = !this.#ended;
    } finally {
      this.#pumping = false;
    }
  }

  #hand(chunk: SeqBatch | LogBatch | undefined): void {
    if (chunk === undefined) {
      this.subscriber.gap(this.#cursor, this.#stream.last_seq + 1);
      this.#cursor = this.#stream.last_seq;
      return;
    }
    if (chunk.first_seq > this.#cursor + 1) this.subscriber.gap(this.#cursor, chunk.first_seq);
    const { bytes } = chunk;
    this.subscriber.write({
      session_id: this.#stream.session_id,
      first_seq: chunk.first_seq,
      last_seq: chunk.last_seq,
      bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    });
    this.#cursor = chunk.last_seq;
  }
}
