// Reads a session's stored events, page by page, as view inputs.
import type { EventsPage, ViewPort } from "./port.ts";
import type { ViewInput } from "./types.ts";

const PAGE_EVENTS = 1_000;

export interface HistoryPage {
  inputs: ViewInput[];
  /** The last event included. */
  seq: number;
  /** The oldest event stored; null if none. */
  earliest_seq: number | null;
  /** The daemon has fewer events than we have seen: its history was replaced. */
  isReplaced: boolean;
}

/** All events after `since_seq`; none of a replaced history. */
export async function* readHistory(
  port: Pick<ViewPort, "events">,
  session_id: string,
  since_seq: number,
  signal: AbortSignal,
): AsyncGenerator<HistoryPage, void> {
  for (let cursor = since_seq; ; ) {
    const page = await port.events(session_id, { since_seq: cursor, limit: PAGE_EVENTS, signal });
    const { events, earliest_seq, latest_seq, next_seq } = page;
    const isReplaced = latest_seq < cursor;
    const inputs = isReplaced ? [] : toInputs(page, session_id, cursor);
    if (!isReplaced) cursor = Math.max(cursor, next_seq);
    yield { inputs, seq: cursor, earliest_seq, isReplaced };
    if (isReplaced || events.length === 0 || cursor >= latest_seq) return;
  }
}

/** Jumps in `seq` become gaps where they occur. Frames that were never stored have no seq; the stream reports those. */
function toInputs(page: EventsPage, session_id: string, since_seq: number): ViewInput[] {
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
