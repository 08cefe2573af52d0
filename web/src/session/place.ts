// An event to scroll to when a session opens: a hit of a search.
import type { View } from "../../../src/client/view/types.ts";
import type { FeedElement } from "./feed.ts";
import type { FeedItem } from "./items.ts";

export class Place {
  readonly #getSeq: () => number | undefined;
  #isDone = false;

  constructor(getSeq: () => number | undefined) {
    this.#getSeq = getSeq;
  }

  /** For the source of the session's events. */
  startAt(history: number): { history: number; at_seq?: number } {
    const at_seq = this.#getSeq();
    return at_seq === undefined ? { history } : { history, at_seq };
  }

  /** Once everything before it has been read. A tool's result belongs to the entry of its call. */
  show(view: View, items: readonly FeedItem[], feed: FeedElement | null): void {
    const seq = this.#getSeq();
    if (seq === undefined || this.#isDone || feed === null || view.seq < seq) return;
    this.#isDone = true;
    const item = items.findLast(({ entry }) => entry.seq !== null && entry.seq <= seq);
    // The first piece of a long text.
    const first = items.find(({ entry }) => entry.id === item?.entry.id);
    if (first !== undefined) feed.show(first.key);
  }
}
