// Reads a session's history as entries for an export, in bounded memory: an entry is given out when it can no longer
// change. Pure, apart from the pages that it is given.

import { applyInputs, emptyView } from "../view.ts";
import type { EventsPage } from "./port.ts";
import type { Entry, View, ViewInput } from "./types.ts";

/** Above this many, those of a turn that has not ended are given out too. */
const MAX_OPEN = 2_000;
/** The view must not drop one before it was given out. */
const LIMITS = { maxEntries: 2 * MAX_OPEN };

/** Complete messages follow: an export has no use for their pieces. */
const PIECES: ReadonlySet<unknown> = new Set(["agent.delta"]);

export class EntryReader {
  #view: View = emptyView();
  /** Entries given out so far, including dropped ones. */
  #given = 0;

  /** The entries that are complete now. `change`: applied to each frame first. */
  read({ events }: Pick<EventsPage, "events">, change: <T>(value: T) => T): Entry[] {
    const inputs = events.flatMap(({ type, seq, frame, timestamp_ms }): ViewInput[] => {
      if (PIECES.has(type)) return [];
      const at = timestamp_ms === null ? {} : { at_ms: timestamp_ms };
      return [{ kind: "frame", seq, frame: { ...change(frame), type }, ...at }];
    });
    this.#view = applyInputs(this.#view, inputs, LIMITS);
    return this.#take(this.#countComplete());
  }

  /** The rest. */
  end(): Entry[] {
    return this.#take(this.#view.entries.length);
  }

  #countComplete(): number {
    const { entries } = this.#view;
    const ended = entries.findLastIndex(({ kind }) => kind === "result") + 1;
    return Math.max(ended, entries.length - MAX_OPEN);
  }

  /** `count`: of the entries in the view. */
  #take(count: number): Entry[] {
    const { entries, dropped } = this.#view;
    const taken = entries.slice(Math.max(0, this.#given - dropped), count);
    this.#given = Math.max(this.#given, dropped + count);
    return taken;
  }
}

/** Changes every text in a value: also keys, which agents choose too. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === "string") return change(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, change)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item as unknown, change)]),
  ) as T;
}
