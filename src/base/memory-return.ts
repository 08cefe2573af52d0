// Returns memory to the system after a burst of work. V8 and malloc keep what the burst needed, often for as long as the
// process runs, because nothing makes them look again. Needs `--expose-gc` (scripts/build.mjs); without it only `release`
// is called.

export interface MemoryReturnParts {
  /** Drops what can be read again, before the collection. */
  release(): void;
  /** Gives free memory of the allocator back, after the collection. */
  trim?(): void;
}

/** After less work there is little to give back. */
const MIN_BYTES = 8 * 1024 * 1024;
/** After the last work. */
const QUIET_MS = 300;
/** A collection stops the thread for about a millisecond per megabyte that is in use. */
const MAX_HEAP_BYTES = 64 * 1024 * 1024;

export class MemoryReturn {
  readonly #parts: MemoryReturnParts;
  #bytes = 0;
  #returnedBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MemoryReturnParts) {
    this.#parts = parts;
  }

  /** `bytes`: all work so far. */
  note(bytes: number): void {
    this.#bytes = bytes;
    if (bytes - this.#returnedBytes < MIN_BYTES) return;
    if (this.#timer !== undefined) {
      this.#timer.refresh();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#returnedBytes = this.#bytes;
      this.#return();
    }, QUIET_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #return(): void {
    this.#parts.release();
    if (process.memoryUsage().heapUsed < MAX_HEAP_BYTES) globalThis.gc?.();
    this.#parts.trim?.();
  }
}
