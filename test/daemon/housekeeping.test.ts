// The daemon's periodic work.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Log } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { startHousekeeping } from "../../src/daemon/housekeeping.ts";
import type { SessionHub } from "../../src/sessions/index.ts";
import { createMemoryStore, type PruneCounts, type Retention } from "../../src/store/index.ts";

async function prunedOnce(counts: PruneCounts, more: Record<string, string> = {}) {
  const limits: Retention[] = [];
  const lines: [string, string, object | undefined][] = [];
  const metrics = createMetrics();
  const { config } = loadConfig({
    flags: {},
    env: { HOME: "/nowhere", XDG_RUNTIME_DIR: "/nowhere", ...more },
  });
  let done: () => void = () => undefined;
  const isDone = new Promise<void>((resolve) => {
    done = resolve;
  });
  const note = (level: string) => (event: string, fields?: object) => {
    lines.push([level, event, fields]);
    if (event === "store.pruned") queueMicrotask(done);
  };
  const log = { info: note("info"), warn: note("warn"), error: note("error") } as unknown as Log;
  const store = {
    ...createMemoryStore(),
    prune: async (asked: Retention) => {
      limits.push(asked);
      return counts;
    },
  };
  const hub = { reap: async () => 0 } as unknown as SessionHub;
  const ready = Promise.resolve();
  const keeping = startHousekeeping({ hub, store, config, log, metrics, ready, firstPruneMs: 0 });
  await isDone;
  keeping.close();
  return { limits, lines, text: metrics.text() };
}

test("history is kept for 90 days and within 10 GiB unless the configuration says otherwise", async () => {
  const { limits } = await prunedOnce({ sessions: 0, events: 0, bytes: 0, over_total: 0 });
  expect(limits).toMatchObject([{ maxAgeMs: 90 * 86_400_000, maxTotalBytes: 10 * 2 ** 30 }]);
});

test("everything else in the state directory counts for the total, but half of it is left for the history", async () => {
  const state = mkdtempSync(join(tmpdir(), "blemees-state-"));
  mkdirSync(join(state, "checkpoints"));
  writeFileSync(join(state, "checkpoints/objects"), "x".repeat(300_000));
  writeFileSync(join(state, "blemees.db"), "x".repeat(900_000));
  const counts = { sessions: 0, events: 0, bytes: 0, over_total: 0 };
  const prunedTo = async (total: number) => {
    const env = { BLEMEESD_STATE_DIR: state, BLEMEESD_RETENTION_TOTAL_BYTES: String(total) };
    const { limits, lines } = await prunedOnce(counts, env);
    return { limit: limits[0]?.maxTotalBytes ?? -1, warned: lines.filter(([level]) => level === "warn") };
  };
  const large = await prunedTo(1_000_000);
  expect(large.limit).toBeLessThanOrEqual(700_000);
  expect(large.limit).toBeGreaterThan(600_000);
  expect(large.warned).toEqual([]);
  const small = await prunedTo(400_000);
  expect(small.limit).toBe(200_000);
  expect(small.warned).toEqual([
    [
      "warn",
      "disk.over_total",
      { bytes: expect.any(Number), largest: "checkpoints", retention_total_bytes: 400_000 },
    ],
  ]);
  expect((await prunedTo(0)).limit).toBe(0);
  rmSync(state, { recursive: true });
});

test("what the total limit removed is logged as a warning and counted separately", async () => {
  const { lines, text } = await prunedOnce({ sessions: 2, events: 7, bytes: 700, over_total: 4 });
  expect(lines).toContainEqual([
    "warn",
    "store.over_total",
    { events: 4, retention_total_bytes: 10_737_418_240 },
  ]);
  expect(text).toContain('blemees_events_pruned_total{reason="session"} 3');
  expect(text).toContain('blemees_events_pruned_total{reason="total"} 4');
});

test("if the total limit removed nothing there is no warning", async () => {
  const { lines } = await prunedOnce({ sessions: 1, events: 3, bytes: 300, over_total: 0 });
  expect(lines.map(([level]) => level)).toEqual(["info"]);
});
