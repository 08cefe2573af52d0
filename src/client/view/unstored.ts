// What a view was told that is in no log: frames that could not be stored, what the stream said of itself, lines of our
// own. Each with its place among the events, so that it stands there again when the events are read again.
import type { ViewInput } from "./types.ts";

/** The newest; whoever has more of them has a broken disk, not a conversation. */
const MAX_KEPT = 1_000;

export class Unstored {
  #kept: { behind: number; input: ViewInput }[] = [];

  /** `behind`: the event that was told last before it. */
  keep(behind: number, input: ViewInput): void {
    this.#kept.push({ behind, input });
    if (this.#kept.length > MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT / 2);
  }

  clear(): void {
    this.#kept = [];
  }

  /** The stored inputs with these in their places; what came behind an event before `from` is left out. */
  among(stored: readonly ViewInput[], from: number): ViewInput[] {
    const kept = this.#kept.filter(({ behind }) => behind >= from);
    const merged: ViewInput[] = [];
    let at = 0;
    const putUpTo = (seq: number): void => {
      for (let next = kept[at]; next !== undefined && next.behind < seq; next = kept[at]) {
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
