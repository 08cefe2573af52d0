// Batches reads from chatty sources. A wake-up costs more than an event, so a source that sends many small chunks is paused
// for a few milliseconds after each read. Quiet sources and sources of large chunks are never delayed. Keeps no bytes.
import { readMonotonicMs } from "./monotonic.ts";

export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** Chunks closer together than this are a burst. 200 events per second are 5 ms apart: no burst. */
const QUICK_MS = 2;
/** How long a busy source is paused after each read. */
export const REST_MS = 6;
/** A chunk of this size is worth its wake-up. */
export const LARGE_BYTES = 8192;
/** A message and its result arrive as two or three chunks: not yet a busy stream. */
const QUICK_RUN = 4;

export class Coalescer {
  readonly #source: Pausable;
  readonly #now: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #run = 0;
  #rest: NodeJS.Timeout | undefined;
  #held = false;

  constructor(source: Pausable, now: () => number = readMonotonicMs) {
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

  /** The source was asked something: the answer is not part of the burst before it, and is passed on at once. */
  expect(): void {
    this.#run = 0;
    if (this.#rest === undefined) return;
    clearTimeout(this.#rest);
    this.#wake();
  }

  /** The consumer wants no more for now; independent of our own pauses. */
  hold(): void {
    this.#held = true;
    this.#source.pause();
  }

  get isHeld(): boolean {
    return this.#held;
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
    // Data that waited in the kernel arrives at once and must count as a burst, although the pause was long.
    this.#lastMs = this.#now();
    if (!this.#held) this.#source.resume();
  }
}
