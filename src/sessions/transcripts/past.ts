// The history of a session that continues a conversation from outside: the newest events of its transcript.

import { defined } from "../../base/values.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { PastEvent, Reading } from "./reading.ts";

/** What is copied at most. */
const MAX_EVENTS = 5_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Frames without envelope, oldest first; the last one says where they come from. */
export async function readPast(reading: Reading, backend: string): Promise<object[]> {
  const newest: PastEvent[] = [];
  let bytes = 0;
  let first = 0;
  let omitted = 0;
  let began_at_ms: number | undefined;
  for (let next = await reading.next(); next !== undefined; next = await reading.next()) {
    began_at_ms ??= next.at_ms;
    newest.push(next);
    bytes += next.bytes;
    while (newest.length - first > MAX_EVENTS || (bytes > MAX_BYTES && newest.length - first > 1)) {
      bytes -= newest[first]?.bytes ?? 0;
      first += 1;
      omitted += 1;
    }
    // Not shifted one by one: that would be slow.
    if (first > MAX_EVENTS) {
      newest.splice(0, first);
      first = 0;
    }
  }
  const kept = newest.slice(first);
  const ended_at_ms = kept.at(-1)?.at_ms;
  const end = reading.end();
  const facts = { events: kept.length, omitted, ...defined({ began_at_ms, ended_at_ms }) };
  return [
    ...kept.map(({ event }) => event),
    ...(end === undefined ? [] : [end.event]),
    toNotice(backend, "conversation_continued", { text: describe(facts), data: facts }),
  ];
}

function describe({ omitted, ended_at_ms }: { omitted: number; ended_at_ms?: number }): string {
  const since = ended_at_ms === undefined ? "" : `; it was last used ${new Date(ended_at_ms).toISOString()}`;
  const cut = omitted === 0 ? "" : `; ${omitted} older events are not shown`;
  return `continues a conversation that was started outside${since}${cut}`;
}
