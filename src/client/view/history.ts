// The stored part of a session's events, page by page, as inputs of a view.
import type { EventsPage, ViewPort } from "./port.ts";
import type { ViewInput } from "./types.ts";

const PAGE_EVENTS = 1_000;

export interface Page {
  inputs: ViewInput[];
  /** The last event that is in it. */
  seq: number;
  /** The oldest that the daemon has; null: none. */
  earliest_seq: number | null;
  /** We have seen more than the daemon has: its history is another now. */
  isAnother: boolean;
}

/** From behind `since_seq` to the newest there is when it is asked; of another history nothing. */
export async function* readHistory(
  port: Pick<ViewPort, "events">,
  session_id: string,
  since_seq: number,
  signal: AbortSignal,
): AsyncGenerator<Page, void> {
  for (let cursor = since_seq; ; ) {
    const page = await port.events(session_id, { since_seq: cursor, limit: PAGE_EVENTS, signal });
    const { events, earliest_seq, latest_seq, next_seq } = page;
    const isAnother = latest_seq < cursor;
    const inputs = isAnother ? [] : inputsOf(page, session_id, cursor);
    if (!isAnother) cursor = Math.max(cursor, next_seq);
    yield { inputs, seq: cursor, earliest_seq, isAnother };
    if (isAnother || events.length === 0 || cursor >= latest_seq) return;
  }
}

/** What is missing is told where it is missing: the seqs show it. What was never stored has none; the stream tells that. */
function inputsOf(page: EventsPage, session_id: string, since_seq: number): ViewInput[] {
  const inputs: ViewInput[] = [];
  let last = since_seq;
  const gapUpTo = (seq: number): void => {
    if (seq <= last + 1) return;
    const reason = page.gap_reason === "persistence_error" ? {} : { gap_reason: page.gap_reason };
    inputs.push({ kind: "gap", data: { session_id, since_seq: last, first_available_seq: seq, ...reason } });
  };
  for (const { seq, frame, timestamp_ms } of page.events) {
    if (seq !== null) gapUpTo(seq);
    const at = timestamp_ms === null ? {} : { at_ms: timestamp_ms };
    inputs.push({ kind: "frame", seq, frame: { ...frame, type: String(frame["type"]) }, ...at });
    last = seq ?? last;
  }
  gapUpTo(page.next_seq + 1);
  return inputs;
}
