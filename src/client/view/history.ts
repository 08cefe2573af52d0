// The stored part of a session's events, page by page, as inputs of a view.
import type { ViewPort } from "./port.ts";
import type { ViewInput } from "./types.ts";

const PAGE_EVENTS = 1_000;

export interface Page {
  inputs: ViewInput[];
  /** The last event that is in it. */
  seq: number;
  /** The oldest that the daemon has; null: none. */
  earliest_seq: number | null;
}

/** From behind `since_seq` to the newest there is when it is asked. */
export async function* readHistory(
  port: Pick<ViewPort, "events">,
  session_id: string,
  since_seq: number,
  signal: AbortSignal,
): AsyncGenerator<Page, void> {
  for (let cursor = since_seq; ; ) {
    const page = await port.events(session_id, { since_seq: cursor, limit: PAGE_EVENTS, signal });
    const { events, earliest_seq, latest_seq, next_seq, history_gap, gap_reason } = page;
    const inputs = events.map(({ seq, frame, timestamp_ms }): ViewInput => {
      const at = timestamp_ms === null ? {} : { at_ms: timestamp_ms };
      return { kind: "frame", seq, frame: { ...frame, type: String(frame["type"]) }, ...at };
    });
    if (history_gap && cursor === since_seq) {
      const first = earliest_seq === null ? {} : { first_available_seq: earliest_seq };
      const data = { session_id, since_seq, ...first, gap_reason };
      inputs.unshift({ kind: "gap", data });
    }
    cursor = Math.max(cursor, next_seq);
    yield { inputs, seq: cursor, earliest_seq };
    if (events.length === 0 || cursor >= latest_seq) return;
  }
}
