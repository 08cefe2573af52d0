// Reads a session's history page by page, as a client with a cursor does.
import { isDeepStrictEqual } from "node:util";
import type { EventsPage } from "../../../src/protocol/wire/http.ts";
import type { HttpClient } from "./http-client.ts";

/** Every page after the cursor. */
export async function pagesBehind(
  http: HttpClient,
  session_id: string,
  since_seq: number,
  limit = 1000,
): Promise<EventsPage[]> {
  const pages: EventsPage[] = [];
  for (let cursor = since_seq; ; ) {
    const page: EventsPage = await http.get(
      `/sessions/${session_id}/events?since_seq=${cursor}&limit=${limit}`,
    );
    pages.push(page);
    if (page.next_seq >= page.latest_seq) return pages;
    cursor = page.next_seq;
  }
}

export async function wholeHistory(http: HttpClient, session_id: string): Promise<EventsPage["events"]> {
  return (await pagesBehind(http, session_id, 0)).flatMap(({ events }) => events);
}

/** What is wrong with a list of seqs that should be `first`, `first + 1`, … `last`: bounded, for thousands of them. */
export function seqFaults(seqs: readonly (number | null)[], first: number, last: number): string[] {
  const wrong = seqs.flatMap((seq, at) => (seq === first + at ? [] : [`${seq} in place of ${first + at}`]));
  const count = last - first + 1;
  return [...wrong.slice(0, 5), ...(seqs.length === count ? [] : [`${seqs.length} instead of ${count}`])];
}

/** Where two lists of frames differ. */
export function frameFaults(left: readonly unknown[], right: readonly unknown[]): string[] {
  const length = Math.max(left.length, right.length);
  const different = Array.from({ length }, (_, at) => at).filter(
    (at) => !isDeepStrictEqual(left[at], right[at]),
  );
  return different.slice(0, 5).map((at) => `${JSON.stringify(left[at])} / ${JSON.stringify(right[at])}`);
}
