// `sm events`: the stored events of a session, with every gap reported.

import { sanitizeLine } from "../../base/sanitize.ts";
import type { EventsPage, EventView } from "../../client/index.ts";
import { truncate } from "../bar.ts";
import { defineFlag, readNumberFlag } from "../command.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import { formatTime } from "./tail.ts";

const PAGE = 500;
const POLL_S = 20;

export const EVENTS: BlemeesCommand = {
  name: "events",
  usage: "events ID",
  summary: "print the events of a session, one per line, and report gaps",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("--since SEQ", "start after this event (default 0: the first stored event)"),
    defineFlag("-n, --last N", "print only the last N"),
    defineFlag("-f, --follow", "follow until Ctrl-C, also across restarts of the daemon"),
  ],
  examples: ["events fixer --last 20", "events fixer --since 120 -f --json"],
  notes: [
    'With --json one object per line: an event with its frame, or {"gap": …} where events are missing.',
  ],
  async run(given, context) {
    const since = readNumberFlag(given, "since", { isWhole: true });
    const last = readNumberFlag(given, "last", { isWhole: true });
    const isFollowing = given.flags["follow"] === true;
    const http = await context.connect({ isPatient: isFollowing });
    const { session_id, last_seq } = await findSession(http, given.words[0] ?? "");
    let cursor = since ?? (last === undefined ? 0 : Math.max(0, last_seq - last));
    const gaps = new GapReporter(context);
    while (!context.signal.aborted) {
      const wait_s = isFollowing ? POLL_S : 0;
      let page: EventsPage;
      try {
        page = await http.events(session_id, {
          since_seq: cursor,
          limit: PAGE,
          wait_s,
          signal: context.signal,
        });
      } catch (error) {
        if (context.signal.aborted) return 0;
        throw error;
      }
      await gaps.report(page, cursor);
      for (const event of page.events) await print(event, context);
      if (!isFollowing && (page.events.length === 0 || page.next_seq >= page.latest_seq)) return 0;
      cursor = Math.max(cursor, page.next_seq);
    }
    return 0;
  },
};

export function formatEventLine(event: EventView, columns: number, now: Date): string {
  const { seq, timestamp_ms, type, preview } = event;
  const time = timestamp_ms === null ? "-" : formatTime(new Date(timestamp_ms), now);
  const line = `${String(seq ?? "-").padStart(6)}  ${time}  ${type.padEnd(18)}  ${preview}`;
  return truncate(sanitizeLine(line).trimEnd(), columns - 1);
}

/** Reports a gap once, not again with each page. */
class GapReporter {
  readonly #context: BlemeesContext;
  #reported: string | undefined;

  constructor(context: BlemeesContext) {
    this.#context = context;
  }

  async report(page: EventsPage, cursor: number): Promise<void> {
    const { history_gap, gap_reason, earliest_seq } = page;
    const key = history_gap ? `${gap_reason}` : undefined;
    const isNew = key !== undefined && key !== this.#reported;
    this.#reported = key;
    if (!isNew) return;
    const { output, isJson } = this.#context;
    if (isJson) await output.json({ gap: { since_seq: cursor, earliest_seq, gap_reason } });
    else output.error(explainGap(cursor, page));
  }
}

export function explainGap(cursor: number, { gap_reason, earliest_seq }: EventsPage): string {
  if (gap_reason === "persistence_error")
    return "· gap: some events could not be stored and are missing here";
  const lost =
    earliest_seq === null ? `events after ${cursor}` : `events ${cursor + 1} to ${earliest_seq - 1}`;
  return `· gap: ${lost} have been pruned (${gap_reason ?? "unknown"})`;
}

async function print(event: EventView, { output, isJson }: BlemeesContext): Promise<void> {
  if (isJson) await output.json(event);
  else await output.line(formatEventLine(event, output.columns, new Date()));
}
