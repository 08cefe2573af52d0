// Messages waiting for a session. A paused session lets them pile up here, so that others in the same process are not
// delayed; only beyond the limit does the whole process wait.

export interface InboxParts<T> {
  deliver(item: T): void;
  /** True: too much is waiting, stop reading. False: continue. */
  full(isFull: boolean): void;
  /** The place in the agent's output before the item that is being pushed. */
  place?(): number;
  maxBytes?: number;
}

/** How much may wait for a slow session before others in its process are affected. */
const MAX_BYTES = 16 * 1024 * 1024;

export class Inbox<T> {
  readonly #parts: InboxParts<T>;
  readonly #maxBytes: number;
  #waiting: Array<{ item: T; bytes: number; from: number }> = [];
  /** How many of these are delivered. */
  #done = 0;
  #bytes = 0;
  #isPaused = false;
  #isFull = false;
  #isDelivering = false;

  constructor(parts: InboxParts<T>) {
    this.#parts = parts;
    this.#maxBytes = parts.maxBytes ?? MAX_BYTES;
  }

  push(item: T, bytes: number): void {
    const mayWait = this.#isPaused || this.#isDelivering;
    const from = mayWait ? (this.#parts.place?.() ?? 0) : 0;
    this.#waiting.push({ item, bytes, from });
    this.#bytes += bytes;
    this.#deliver();
    if (this.#bytes > this.#maxBytes) this.#setFull(true);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === this.#done;
  }

  /** The place in the agent's output up to which everything was delivered; undefined: all of it. */
  get waitsFrom(): number | undefined {
    return this.#waiting[this.#done]?.from;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  /** Keeps the order even if a delivery pushes, pauses or resumes. */
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      while (!this.#isPaused) {
        const next = this.#waiting[this.#done];
        if (next === undefined) break;
        this.#done += 1;
        this.#bytes -= next.bytes;
        this.#parts.deliver(next.item);
      }
    } finally {
      this.#waiting.splice(0, this.#done);
      this.#done = 0;
      this.#isDelivering = false;
    }
    if (this.#bytes <= this.#maxBytes / 2) this.#setFull(false);
  }

  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#parts.full(isFull);
  }
}
