// A million events through one daemon: its heap stops growing, and no descriptor and no zombie is left. SOAK_EVENTS
// sets another length.
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Ear } from "../crash/ear.ts";
import { figure } from "../crash/figure.ts";
import { zombiesOf } from "../crash/marked.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

const EVENTS = Number(process.env["SOAK_EVENTS"] ?? 1_000_000);
const SESSIONS = 4;
const EVENTS_PER_TURN = 5_000;
const MB = 1024 * 1024;
const MAX_GROWTH_MB = 20;
const probe = join(tmpdir(), `blemees-probe-${process.pid}.json`);

interface Memory {
  heapUsed: number;
  rss: number;
  fds: number;
}

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({
    env: {
      NODE_OPTIONS: `--import ${join(import.meta.dirname, "heap-probe.mjs")}`,
      HEAP_PROBE: probe,
      BLEMEESD_LOG_LEVEL: "warn",
    },
  });
});
afterAll(async () => {
  await daemon.close();
  rmSync(probe, { force: true });
});

test.skipIf(process.platform !== "linux")("a long stream leaves nothing behind in the daemon", async () => {
  const startedMs = performance.now();
  const ear = await Ear.connect(daemon.socket);
  const ids = Array.from({ length: SESSIONS }, () => randomUUID());
  for (const session_id of ids) {
    const options = { claude: { include_partial_messages: true } };
    ear.send({ type: "blemeesd.open", session_id, backend: "claude", options });
  }
  await ear.until(() => ear.opened === SESSIONS);
  await playUntil(ear, ids, EVENTS / 10);
  const early = await measure();
  await playUntil(ear, ids, EVENTS);
  const late = await measure();
  const growthMb = (late.heapUsed - early.heapUsed) / MB;
  const seconds = (performance.now() - startedMs) / 1000;
  figure(
    `soak: ${ear.frames} events in ${seconds.toFixed(0)} s; heap ${(early.heapUsed / MB).toFixed(1)} MB at a tenth, ` +
      `${(late.heapUsed / MB).toFixed(1)} MB at the end; rss ${Math.round(early.rss / MB)} → ` +
      `${Math.round(late.rss / MB)} MB; descriptors ${early.fds} → ${late.fds}; zombies ${zombiesOf(daemon.pid)}`,
  );
  expect([...ear.faults, ...ear.troubles]).toEqual([]);
  expect(growthMb).toBeLessThan(MAX_GROWTH_MB);
  expect(late.fds).toBe(early.fds);
  expect(zombiesOf(daemon.pid)).toBe(0);
});

/** Turn after turn in all sessions, until the given number of frames has come and all turns are over. */
async function playUntil(ear: Ear, ids: readonly string[], frames: number): Promise<void> {
  while (ear.frames < frames) {
    const wanted = ear.results + ids.length;
    for (const session_id of ids) {
      const message = { role: "user", content: `#flood ${EVENTS_PER_TURN} 100` };
      ear.send({ type: "agent.user", session_id, message });
    }
    await ear.until(() => ear.results >= wanted);
  }
}

async function measure(): Promise<Memory> {
  rmSync(probe, { force: true });
  process.kill(daemon.pid, "SIGUSR2");
  await vi.waitFor(() => expect(existsSync(probe)).toBe(true), { timeout: 10_000 });
  const { heapUsed, rss } = JSON.parse(readFileSync(probe, "utf8")) as Memory;
  return { heapUsed, rss, fds: readdirSync(`/proc/${daemon.pid}/fd`).length };
}
