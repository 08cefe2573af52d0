// 20 clients follow one session and one of them never reads: the agent is not delayed, the others get everything, the
// memory for the slow one is bounded, and after `slow_consumer_s` it is dropped.
import { afterEach, expect, test, vi } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { SseReader } from "../http/sse-reader.ts";
import { HttpClient } from "./http-client.ts";
import { seqFaults } from "./pages.ts";

const READERS = 19;
/** More than a stream may keep. */
const FLOOD = "#flood 4000 1000";
/** The outbox of a stream, what the kernel holds for a socket, and the batch that filled it up. */
const MAX_KEPT_BYTES = 3 * 1024 * 1024;

let daemon: TestDaemon;
let http: HttpClient;
afterEach(async () => {
  http.close();
  await daemon.close();
});

test("a client that never reads is dropped after its time, and no other client notices", async () => {
  const { id, readers } = await follow("1");
  const stuck = await http.open(`/sessions/${id}/events?since_seq=0`);
  expect(await streams()).toBe(READERS + 1);
  const last = await turn(id, readers, FLOOD);
  for (const reader of readers) expect(seqFaults(reader.ids(), 1, last)).toEqual([]);
  await vi.waitFor(async () => expect(await streams()).toBe(READERS), { timeout: 45_000, interval: 50 });
  expect(daemon.log()).toContain('"event":"http.slow_consumer"');
  // When it reads on it finds that its stream was cut.
  const late = new SseReader(stuck);
  await late.ended();
  expect(late.ids().length).toBeLessThan(last);
  const next = await turn(id, readers, "#say still there");
  for (const reader of readers) expect(seqFaults(reader.ids(), 1, next)).toEqual([]);
});

test("a client that reads late gets the rest from the log, and little was kept for it", async () => {
  const { id, readers } = await follow("30");
  const stuck = await http.open(`/sessions/${id}/events?since_seq=0`);
  // All others have everything while this one has read nothing.
  const last = await turn(id, readers, FLOOD);
  expect(await streams()).toBe(READERS + 1);
  const late = new SseReader(stuck);
  await late.until((reader) => results(reader).length === 1);
  expect(seqFaults(late.ids(), 1, last)).toEqual([]);
  const lagAt = late.events.findIndex(({ event }) => event === "catching_up");
  expect(lagAt).toBeGreaterThan(0);
  const kept = late.events.slice(0, lagAt).reduce((sum, { data }) => sum + data.length, 0);
  expect(kept).toBeLessThan(MAX_KEPT_BYTES);
});

async function follow(slow_consumer_s: string): Promise<{ id: string; readers: SseReader[] }> {
  daemon = await startDaemon({
    env: { BLEMEESD_SLOW_CONSUMER: slow_consumer_s, BLEMEESD_LOG_LEVEL: "warn" },
  });
  http = new HttpClient(daemon.socket);
  const options = { include_partial_messages: true };
  const id = await http.spawn({ backend: "claude", approvals: false, options });
  const path = `/sessions/${id}/events?since_seq=0`;
  const readers = await Promise.all(Array.from({ length: READERS }, () => http.stream(path)));
  return { id, readers };
}

/** Resolves when every client has seen the end: the seq of the result. */
async function turn(id: string, readers: readonly SseReader[], text: string): Promise<number> {
  const before = readers.map((reader) => results(reader).length);
  await http.ask("POST", `/sessions/${id}/input`, { body: { text } });
  await Promise.all(
    readers.map((reader, at) => reader.until(() => results(reader).length > (before[at] ?? 0))),
  );
  const [first] = readers;
  return Number(first === undefined ? 0 : results(first).at(-1)?.id);
}

function results({ events }: SseReader): SseReader["events"] {
  return events.filter(({ event }) => event === "agent.result");
}

async function streams(): Promise<number> {
  return (await http.get("/status")).http.streams;
}
