// One subscriber's place in a session's stream. Live: batches are handed on as they come. Behind: it is fed
// from ring and log until it has caught up; replay, takeover and slow watchers are all this one case. Nobody
// waits for a subscriber, so a stuck one harms nobody else.
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
  /** The last seq the client has; frames behind it are delivered. */
  after_seq: number;
}

export class Feed implements Attachment {
  readonly client: Client;
  readonly subscriber: Subscriber;
  #role: "owner" | "watcher";
  /** Its client asked to watch. An owner may too: it has one place in the stream, and gets each frame once. */
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

  /** The last seq that was handed to the client. */
  get cursor(): number {
    return this.#cursor;
  }

  /** True while the reader holds up: the owner's agent is paused then. */
  get isFull(): boolean {
    return this.subscriber.isFull();
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** The owner watches too: what it asked to see again is delivered again, from `start` on. */
  watch(last_seen_seq: number | undefined): void {
    this.isWatching = true;
    if (last_seen_seq === undefined || last_seen_seq === this.#cursor) return;
    this.#cursor = last_seen_seq;
    this.#live = false;
    this.#isStarted = false;
  }

  /** Another client has become the owner; this one goes on as a watcher, without a gap. */
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
    // Read from the log a moment ago, before the log's answer to the write reached us.
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

  drained(): void {
    if (this.role === "owner") this.#stream.pressure();
    void this.#pump();
  }

  end(): void {
    this.#ended = true;
    this.#live = false;
    this.#stream.feeds.delete(this);
  }

  /** What of the batch the client does not have yet; all of it, but for the case above. */
  #rest(batch: Batch): Batch {
    if (batch.last_seq === 0 || batch.first_seq > this.#cursor) return batch;
    return sliceFrom(batch, this.#cursor + 1);
  }

  /** A full owner holds its agent, also while it is fed from the log. */
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
      // The log cannot be read. Nothing may be skipped silently: say that it is gone, go on live.
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
