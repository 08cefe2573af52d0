// 200 sessions in the table, 50 of them working: a client that follows one sees each event once and in order, a client
// that follows all sees the final state of each, and the list is complete. For speed: `npm run bench -- --only http`.
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionView } from "../../../src/protocol/wire/http.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { SseReader } from "../http/sse-reader.ts";
import { HttpClient } from "./http-client.ts";
import { frameFaults, seqFaults, wholeHistory } from "./pages.ts";

const COLD = 150;
const ACTIVE = 50;
const LISTS = 20;
/** The demo agent repeats it word by word; it is interrupted long before the end. */
const LONG_TALK = "and so on ".repeat(2_000);
const ENV = { BLEMEESD_MAX_SESSIONS: "1000", BLEMEESD_LOG_LEVEL: "warn" };

let daemon: TestDaemon;
let http: HttpClient;
let cold: string[];

beforeAll(async () => {
  // On pipes its agents end with it.
  const first = await startDaemon({ env: { ...ENV, BLEMEESD_AGENT_STDIO: "pipes" } });
  const before = new HttpClient(first.socket);
  cold = await spawnDemos(before, COLD, { prompt: "hello", options: { pace_ms: 0 } });
  await Promise.all(cold.map((id) => before.get(`/sessions/${id}/wait?until=idle`)));
  before.close();
  await first.kill("SIGKILL");
  daemon = await startDaemon({ home: first.home, env: ENV });
  http = new HttpClient(daemon.socket);
}, 60_000);

afterAll(async () => {
  http.close();
  await daemon.close();
});

test("sessions of an earlier daemon are listed with their names and results, without an agent", async () => {
  const { sessions } = await http.get("/sessions");
  expect(new Set(sessions.map(idOf))).toEqual(new Set(cold));
  for (const session of sessions) {
    expect(session).toMatchObject({ activity_state: "stopped", running: false, turns: 1, queued: 0 });
    expect(session.last_result.subtype).toBe("success");
  }
});

test("with 50 at work, each follower sees each event once and in order, and one of all sees the ends", async () => {
  const all = await http.stream("/events");
  const active = await spawnDemos(http, ACTIVE, { options: { pace_ms: 20 } });
  const readers = await Promise.all(active.map((id) => http.stream(`/sessions/${id}/events?since_seq=0`)));
  await Promise.all(
    active.map((id) => http.ask("POST", `/sessions/${id}/input`, { body: { text: LONG_TALK } })),
  );
  await Promise.all(readers.map((reader) => reader.until(({ events }) => events.length > 20)));
  for (let n = 0; n < LISTS; n += 1) {
    const { sessions } = await http.get("/sessions");
    expect(sessions).toHaveLength(COLD + ACTIVE);
    expect(sessions.slice(0, ACTIVE).filter(isWorking)).toHaveLength(ACTIVE);
  }
  await Promise.all(active.map((id) => http.ask("POST", `/sessions/${id}/interrupt`, { body: {} })));
  await Promise.all(readers.map((reader) => reader.until(hasResult)));
  for (const [at, reader] of readers.entries()) {
    const history = await wholeHistory(http, active[at] ?? "");
    await reader.until(({ events }) => events.length >= history.length);
    expect(seqFaults(reader.ids(), 1, history.length)).toEqual([]);
    expect(
      frameFaults(
        framesOf(reader),
        history.map(({ frame }) => frame),
      ),
    ).toEqual([]);
  }
  const ends: SessionView[] = (await http.get(`/sessions?limit=${ACTIVE}`)).sessions;
  // Changes are throttled per session, but its last state is always sent.
  await all.until(({ events }) => ends.every((end) => isSame(lastTold(events, idOf(end)), end)));
  for (const reader of [all, ...readers]) reader.close();
});

async function spawnDemos(client: HttpClient, count: number, more: object): Promise<string[]> {
  const body = (n: number) => ({ backend: "demo", name: `demo ${n}`, ...more });
  return Promise.all(Array.from({ length: count }, (_, n) => client.spawn(body(n))));
}

function isWorking({ turn }: SessionView): boolean {
  return turn !== undefined;
}

function framesOf({ events }: SseReader): unknown[] {
  return events.map(({ data }) => JSON.parse(data));
}

function idOf({ session_id }: SessionView): string {
  return session_id;
}

function hasResult({ events }: { events: readonly { event?: string | undefined }[] }): boolean {
  return events.some(({ event }) => event === "agent.result");
}

function lastTold(
  events: readonly { event?: string | undefined; data: string }[],
  id: string,
): SessionView | undefined {
  const told = events.findLast(({ event, data }) => event === "session" && data.includes(id));
  return told === undefined ? undefined : JSON.parse(told.data).session;
}

function isSame(told: SessionView | undefined, end: SessionView): boolean {
  const keys = ["activity_state", "turns", "last_result", "last_seq"] as const;
  return keys.every((key) => isDeepStrictEqual(told?.[key], end[key]));
}
