// Messages waiting for a session. A paused session lets them pile up here, so that others in the same process are not
// delayed; only beyond the limit does the whole process wait.

export interface InboxParts<T> {
  deliver(item: T): void;
  /** True: too much is waiting, stop reading. False: continue. */
  full(isFull: boolean): void;
  maxBytes?: number;
}

/** How much may wait for a slow session before others in its process are affected. */
const MAX_BYTES = 16 * 1024 * 1024;

export class Inbox<T> {
  readonly #parts: InboxParts<T>;
  readonly #maxBytes: number;
  #waiting: Array<{ item: T; bytes: number }> = [];
  #bytes = 0;
  #isPaused = false;
  #isFull = false;
  #isDelivering = false;

  constructor(parts: InboxParts<T>) {
    this.#parts = parts;
    this.#maxBytes = parts.maxBytes ?? MAX_BYTES;
  }

  push(item: T, bytes: number): void {
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    this.#deliver();
    if (this.#bytes > this.#maxBytes) this.#setFull(true);
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
    let count = 0;
    try {
      while (!this.#isPaused) {
        const next = this.#waiting[count];
        if (next === undefined) break;
        count += 1;
        this.#bytes -= next.bytes;
        this.#parts.deliver(next.item);
      }
    } finally {
      this.#waiting.splice(0, count);
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
