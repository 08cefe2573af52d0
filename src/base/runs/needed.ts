// What of a run directory is still needed: each session of the process has a place from which a later daemon can
// continue. What lies before all places is freed; the directory is removed once the process has ended and no session
// needs it.
import { closeSync, openSync } from "node:fs";
import { type RunDirectory, removeRunDirectory } from "./directory.ts";
import { loadSystemCalls } from "./system-calls.ts";

/** Offset in the output, and number in the record. */
export interface Place {
  out: number;
  n: number;
}

const BLOCK_BYTES = 4096;
/** Space is freed in pieces of this size. */
const FREE_BYTES = 256 * 1024;

export class Needed {
  readonly #directory: RunDirectory;
  readonly #places = new Map<string, Place>();
  /** Space before these offsets has been freed. */
  readonly #freed = { out: 0, err: 0 };
  #isOver = false;

  constructor(directory: RunDirectory) {
    this.#directory = directory;
  }

  set(session_id: string, place: Place): void {
    this.#places.set(session_id, place);
  }

  /** False if it had none. */
  delete(session_id: string): boolean {
    const had = this.#places.delete(session_id);
    this.#removeIfDone();
    return had;
  }

  /** The earliest place; undefined if no session has one. */
  get first(): Place | undefined {
    const places = [...this.#places.values()];
    if (places.length === 0) return undefined;
    return { out: Math.min(...places.map(({ out }) => out)), n: Math.min(...places.map(({ n }) => n)) };
  }

  /** Nothing more will be written. */
  end(): void {
    this.#isOver = true;
    this.#removeIfDone();
  }

  /** Frees space before these offsets. If it fails, it is tried again the next time. */
  free(before: { out: number; err: number }): void {
    const { output, errors } = this.#directory;
    this.#free("out", output, before.out);
    this.#free("err", errors, before.err);
  }

  #free(which: "out" | "err", path: string, before: number): void {
    const end = before - (before % BLOCK_BYTES);
    const from = this.#freed[which];
    if (end - from < FREE_BYTES) return;
    try {
      const fd = openSync(path, "r+");
      try {
        loadSystemCalls().freeSpace(fd, from, end);
      } finally {
        closeSync(fd);
      }
      this.#freed[which] = end;
    } catch {
      // The disk may be full or the file gone.
    }
  }

  #removeIfDone(): void {
    if (this.#isOver && this.#places.size === 0) removeRunDirectory(this.#directory);
  }
}
