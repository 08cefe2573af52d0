// Reads a file that another process appends to: from an offset, as it grows. The bytes are in the page cache, so reads
// are synchronous and cost a few microseconds; inotify reports when to read.
import { closeSync, type FSWatcher, fstatSync, openSync, readSync, watch } from "node:fs";

export interface FollowParts {
  path: string;
  /** Where to start. */
  offset: number;
  /** The bytes are valid until it returns. */
  chunk(bytes: Buffer): void;
}

/** A shorter read means the end of the file was reached. */
export const READ_BYTES = 64 * 1024;
/** Bytes read before other work gets its turn. */
const TURN_BYTES = 256 * 1024;
/** Polling interval if inotify is unavailable (no watches left). */
const POLL_MS = 15;

/** Shared by all files: a chunk is handled before the next read. */
const scratch = Buffer.allocUnsafeSlow(READ_BYTES);

export class Follower {
  readonly #parts: FollowParts;
  readonly #fd: number;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #offset: number;
  #isPaused = true;
  #isClosed = false;
  #isReading = false;
  #isScheduled = false;

  /** Throws if the file cannot be opened. Nothing is read before `resume`. */
  constructor(parts: FollowParts) {
    this.#parts = parts;
    this.#offset = parts.offset;
    this.#fd = openSync(parts.path, "r");
  }

  /** The end of what was read. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes not yet read. */
  get unreadBytes(): number {
    return this.#isClosed ? 0 : Math.max(0, fstatSync(this.#fd).size - this.#offset);
  }

  /** Also stops watching: the notifications would cost more than they are worth. */
  pause(): void {
    this.#isPaused = true;
    this.#unwatch();
  }

  resume(): void {
    if (this.#isClosed || !this.#isPaused) return;
    this.#isPaused = false;
    this.#watch();
    this.#schedule();
  }

  /** Reads the given bytes, or fewer if the file ends before. */
  read(from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(this.#fd, bytes, length, bytes.length - length, from + length);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  }

  /** Continues from another place. */
  seek(offset: number): void {
    this.#offset = offset;
  }

  /** Reads to the end now, even if paused: nothing more will be written. */
  drain(): void {
    if (this.#isReading) return;
    while (this.#readOnce() > 0);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwatch();
    closeSync(this.#fd);
  }

  #watch(): void {
    const look = () => this.#readAll();
    try {
      this.#watcher = watch(this.#parts.path, { persistent: false }, look);
      this.#watcher.on("error", () => this.#startPolling(look));
    } catch {
      this.#startPolling(look);
    }
  }

  #startPolling(look: () => void): void {
    this.#unwatch();
    if (!this.#isClosed && !this.#isPaused) this.#poll = setInterval(look, POLL_MS).unref();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#poll);
  }

  #readAll(): void {
    if (this.#isPaused || this.#isReading || this.#isClosed) return;
    for (let bytes = 0; bytes < TURN_BYTES; ) {
      const count = this.#readOnce();
      // A short read was the end: whatever is written from now on is announced.
      if (count < READ_BYTES || this.#isPaused || this.#isClosed) return;
      bytes += count;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#readAll();
    });
  }

  #readOnce(): number {
    if (this.#isClosed) return 0;
    const count = readSync(this.#fd, scratch, 0, READ_BYTES, this.#offset);
    if (count === 0) return 0;
    this.#offset += count;
    this.#isReading = true;
    try {
      this.#parts.chunk(scratch.subarray(0, count));
    } finally {
      this.#isReading = false;
    }
    return count;
  }
}
