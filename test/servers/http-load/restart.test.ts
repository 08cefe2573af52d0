// kill -9 after 10,000 events: a client with an old cursor gets everything from the next daemon, by pages and by
// stream, or a gap notice.
import { afterEach, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { HttpClient } from "./http-client.ts";
import { frameFaults, pagesBehind, seqFaults } from "./pages.ts";

const DELTAS = 10_000;
const CURSOR = 137;
const KEPT_ROWS = 500;

let daemon: TestDaemon;
let http: HttpClient;
afterEach(async () => {
  http.close();
  await daemon.close();
});

test("everything seen before the kill is read again after an old cursor, by pages and by stream", async () => {
  const { id, seen } = await floodAndKill();
  await restart();
  const pages = await pagesBehind(http, id, CURSOR);
  const events = pages.flatMap((page) => page.events);
  const latest = pages.at(-1)?.latest_seq ?? 0;
  expect(pages.filter(({ history_gap }) => history_gap)).toEqual([]);
  expect(
    seqFaults(
      events.map(({ seq }) => seq),
      CURSOR + 1,
      latest,
    ),
  ).toEqual([]);
  expect(latest).toBeGreaterThanOrEqual(seen.size);
  const frames = events.map(({ frame }) => frame);
  const before = frames.map((frame, at) => seen.get(CURSOR + 1 + at) ?? frame);
  expect(frameFaults(frames, before)).toEqual([]);
  const stream = await http.stream(`/sessions/${id}/events`, { "last-event-id": String(CURSOR) });
  await stream.until((reader) => reader.events.at(-1)?.id === String(latest));
  expect(seqFaults(stream.ids(), CURSOR + 1, latest)).toEqual([]);
  expect(
    frameFaults(
      stream.events.map(({ data }) => JSON.parse(data)),
      frames,
    ),
  ).toEqual([]);
  stream.close();
});

test("pruned events are reported as a gap, by pages and by stream, and the rest is complete", async () => {
  const { id } = await floodAndKill();
  await restart({ BLEMEESD_RETENTION_ROWS: String(KEPT_ROWS) });
  const pages = await prunedPages(id);
  const [first] = pages;
  const latest = first?.latest_seq ?? 0;
  const earliest = first?.earliest_seq ?? 0;
  expect(first).toMatchObject({ history_gap: true, gap_reason: "retention" });
  expect(earliest).toBeGreaterThan(CURSOR + 1);
  expect(pages.slice(1).filter(({ history_gap }) => history_gap)).toEqual([]);
  const seqs = pages.flatMap(({ events }) => events.map(({ seq }) => seq));
  expect(seqFaults(seqs, earliest, latest)).toEqual([]);
  const stream = await http.stream(`/sessions/${id}/events`, { "last-event-id": String(CURSOR) });
  await stream.until((reader) => reader.events.at(-1)?.id === String(latest));
  const gap = { session_id: id, since_seq: CURSOR, first_available_seq: earliest };
  expect(stream.events[0]).toMatchObject({ event: "gap", data: JSON.stringify(gap) });
  expect(seqFaults(stream.ids(), earliest, latest)).toEqual([]);
  stream.close();
});

/** A turn with many events; the daemon dies when a client has seen nearly all of them. */
async function floodAndKill(): Promise<{ id: string; seen: Map<number, unknown> }> {
  daemon = await startDaemon({ env: { BLEMEESD_LOG_LEVEL: "warn" } });
  http = new HttpClient(daemon.socket);
  const options = { include_partial_messages: true };
  const id = await http.spawn({ backend: "claude", approvals: false, options });
  const reader = await http.stream(`/sessions/${id}/events?since_seq=0`);
  await http.ask("POST", `/sessions/${id}/input`, { body: { text: `#flood ${DELTAS} 100` } });
  await reader.until(({ events }) => events.length >= DELTAS);
  await daemon.kill("SIGKILL");
  http.close();
  await reader.ended();
  // A reader that falls behind also gets `catching_up`, which is no frame.
  const stored = reader.events.filter(({ id: seq }) => seq !== undefined);
  const seen = stored.map(({ id: seq, data }) => [Number(seq), JSON.parse(data)] as const);
  return { id, seen: new Map(seen) };
}

async function restart(env: Record<string, string> = {}): Promise<void> {
  daemon = await startDaemon({ home: daemon.home, env: { BLEMEESD_LOG_LEVEL: "warn", ...env } });
  http = new HttpClient(daemon.socket);
}

/** Retention runs after the start. */
async function prunedPages(id: string): ReturnType<typeof pagesBehind> {
  for (;;) {
    const pages = await pagesBehind(http, id, CURSOR);
    if (pages[0]?.history_gap === true) return pages;
  }
}
