// Many connections, many watches and clients that never read. CONNECTIONS, WATCHES and
// SLOW_S make it larger.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Pinger } from "../fuzz/pinger.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { RawClient } from "../support/raw-client.ts";
import { IS_CHAOS, size } from "../support/sizes.ts";
import { Ear } from "./ear.ts";
import { figure } from "./figure.ts";

const CONNECTIONS = size("CONNECTIONS", 50);
const WATCHES = size("WATCHES", 500);
const SLOW_S = size("SLOW_S", 12);
const SESSIONS = Array.from({ length: Math.ceil(WATCHES / CONNECTIONS) }, (_, n) => `session-${n}`);
const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");
const LONG = { timeout: 300_000 };
const FLOOD = (session_id: string) => ({
  type: "agent.user",
  session_id,
  message: { role: "user", content: "#flood 12000 200" },
});

let daemon: TestDaemon;
let owner: RawClient;
const ears: Ear[] = [];

beforeAll(async () => {
  daemon = await startDaemon({
    env: { BLEMEESD_SLOW_CONSUMER: String(SLOW_S), BLEMEESD_LOG_LEVEL: "warn" },
  });
  owner = await daemon.connect();
  for (const session_id of SESSIONS) {
    await owner.open(session_id, {}, { backend: "demo", options: { demo: { pace_ms: 1 } } });
  }
});
afterAll(async () => {
  for (const ear of ears) ear.socket.destroy();
  await daemon.close();
});

test("all connect at once, and every client may watch every session", LONG, async () => {
  const startedMs = performance.now();
  const all = Array.from({ length: CONNECTIONS }, () => Ear.connect(daemon.socket));
  ears.push(...(await Promise.all(all)));
  const connectedMs = performance.now() - startedMs;
  for (const ear of ears) for (const session_id of SESSIONS) ear.send({ type: "blemeesd.watch", session_id });
  await Promise.all(ears.map((ear) => ear.until(() => ear.watching === SESSIONS.length)));
  const watchedMs = performance.now() - startedMs - connectedMs;
  figure(
    `${CONNECTIONS} connections in ${Math.round(connectedMs)} ms, ` +
      `${ears.length * SESSIONS.length} watches in ${Math.round(watchedMs)} ms`,
  );
  if (IS_CHAOS) expect(connectedMs).toBeLessThan(10_000);
});

test(
  "every watcher gets every frame once, while two clients read nothing and are dropped",
  LONG,
  async () => {
    const pinger = new Pinger(await daemon.connect());
    await vi.waitFor(() => expect(pinger.count).toBeGreaterThan(100), { timeout: 45_000 });
    const alone = { pings: pinger.count, p99Ms: pinger.p99Ms() };
    const stalledAtMs = performance.now();
    const session_id = await stallOwner();
    const reader = await stallWatcher();
    const startedMs = performance.now();
    const last = await playAll();
    const hasAll = (ear: Ear) => SESSIONS.every((id) => ear.lastSeq.get(id) === last.get(id));
    await Promise.all(ears.map((ear) => ear.until(() => hasAll(ear))));
    const seconds = (performance.now() - startedMs) / 1000;
    const frames = ears.reduce((sum, ear) => sum + ear.frames, 0);
    expect(ears.flatMap((ear) => [...ear.faults, ...ear.troubles])).toEqual([]);
    // A watcher never slows other clients: the turn that it does not read is over.
    expect(await reader.next("agent.result")).toMatchObject({ subtype: "success" });

    await vi.waitFor(() => expect(drops()).toBe(2), { timeout: (SLOW_S + 45) * 1000, interval: 50 });
    const droppedMs = performance.now() - stalledAtMs;
    await pinger.stop();
    figure(
      `${frames} frames to ${ears.length} watchers in ${seconds.toFixed(1)} s; ping p99 ` +
        `${alone.p99Ms.toFixed(1)} ms alone, ${pinger.p99Ms(alone.pings).toFixed(1)} ms meanwhile; ` +
        `stalled clients dropped after ${Math.round(droppedMs)} ms (limit ${SLOW_S} s)`,
    );
    expect(droppedMs).toBeGreaterThan(SLOW_S * 1000);

    // The session of the dropped owner is free, and its turn continued to the end.
    const next = await daemon.connect();
    await next.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    expect(await next.next("agent.result")).toMatchObject({ subtype: "success" });
  },
);

/** One turn in each session; the seq of each result. */
async function playAll(): Promise<Map<string, number>> {
  for (const session_id of SESSIONS) {
    owner.send({ type: "agent.user", session_id, message: { role: "user", content: WORDS } });
  }
  const last = new Map<string, number>();
  while (last.size < SESSIONS.length) {
    const result = await owner.next("agent.result");
    last.set(String(result["session_id"]), Number(result["seq"]));
  }
  return last;
}

/** An owner that asks for more than the buffers hold, and reads nothing of it. */
async function stallOwner(): Promise<string> {
  const stalled = await daemon.connect();
  const session_id = await openFlood(stalled);
  stalled.socket.pause();
  stalled.send(FLOOD(session_id));
  return session_id;
}

/** The same with a watcher; returns the owner, which reads. */
async function stallWatcher(): Promise<RawClient> {
  const reader = await daemon.connect();
  const session_id = await openFlood(reader);
  const stalled = await daemon.connect();
  await stalled.request({ type: "blemeesd.watch", session_id });
  stalled.socket.pause();
  reader.send(FLOOD(session_id));
  return reader;
}

async function openFlood(client: RawClient): Promise<string> {
  const session_id = randomUUID();
  await client.open(session_id, { include_partial_messages: true });
  return session_id;
}

function drops(): number {
  return daemon.log().split("connection.slow_consumer").length - 1;
}
