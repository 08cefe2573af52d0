// Decides when a byte stream should rest for a moment. Every wake-up costs more than an event (DESIGN §7), so
// a source that dribbles many small chunks is paused for a few ms after each read and the kernel collects the
// rest. A quiet source and a source of big chunks are never held back. Not a buffer: it keeps no bytes.

export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** Chunks closer together than this are one burst. 200 events a second are 5 ms apart: no burst. */
const QUICK_MS = 2;
/** How long a busy source rests after each read. */
export const REST_MS = 6;
/** A chunk of this size is already worth its wake-up. */
export const LARGE_BYTES = 8192;
/** A message and its result come as two or three chunks: that is not yet a busy stream. */
const QUICK_RUN = 4;

export class Coalescer {
  readonly #source: Pausable;
  readonly #now: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #run = 0;
  #rest: NodeJS.Timeout | undefined;
  #held = false;

  constructor(source: Pausable, now: () => number = () => performance.now()) {
    this.#source = source;
    this.#now = now;
  }

  /** A chunk was read and delivered. */
  note(bytes: number): void {
    const now = this.#now();
    const isQuick = now - this.#lastMs < QUICK_MS && bytes < LARGE_BYTES;
    this.#lastMs = now;
    this.#run = isQuick ? this.#run + 1 : 0;
    if (this.#run < QUICK_RUN || this.#rest !== undefined) return;
    this.#source.pause();
    this.#rest = setTimeout(() => this.#wake(), REST_MS);
  }

  /** The consumer wants no more for now; independent of the rests. */
  hold(): void {
    this.#held = true;
    this.#source.pause();
  }

  release(): void {
    this.#held = false;
    if (this.#rest === undefined) this.#source.resume();
  }

  close(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
  }

  #wake(): void {
    this.#rest = undefined;
    // What waited in the kernel arrives at once and must count as quick, though the rest itself was long.
    this.#lastMs = this.#now();
    if (!this.#held) this.#source.resume();
  }
}
