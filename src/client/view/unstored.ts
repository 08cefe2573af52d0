// Inputs that are in no log: frames that could not be stored, stream status, our own lines. Kept with their position, to
// be merged when the events are read again.
import type { ViewInput } from "./types.ts";

/** More means a broken disk. */
const MAX_KEPT = 1_000;

export class Unstored {
  #kept: { after: number; input: ViewInput }[] = [];

  /** `after`: the last event before it. */
  keep(after: number, input: ViewInput): void {
    this.#kept.push({ after, input });
    if (this.#kept.length > MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT / 2);
  }

  clear(): void {
    this.#kept = [];
  }

  /** Merges these into the stored inputs; those after an event before `from` are omitted. */
  mergeInto(stored: readonly ViewInput[], from: number): ViewInput[] {
    const kept = this.#kept.filter(({ after }) => after >= from);
    const merged: ViewInput[] = [];
    let at = 0;
    const putUpTo = (seq: number): void => {
      for (let next = kept[at]; next !== undefined && next.after < seq; next = kept[at]) {
        merged.push(next.input);
        at += 1;
      }
    };
    for (const input of stored) {
      if (input.kind === "frame" && input.seq !== null) putUpTo(input.seq);
      merged.push(input);
    }
    putUpTo(Number.POSITIVE_INFINITY);
    return merged;
  }
}
