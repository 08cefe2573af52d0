import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SnapshotKeeper } from "../../src/backends/keeper.ts";
import type { RunFiles } from "../../src/base/runs/run-files.ts";
import { writeSnapshot } from "../../src/base/runs/snapshots.ts";
import { tempDir } from "./temp-dir.ts";

const sessions = tempDir("keeper");
const SNAPSHOT = { generation: "g", last_seq: 0, out: 0, err: 0, n: 0, has_init: true, state: {} };

function leave(): { keeper: SnapshotKeeper; existed: boolean[] } {
  writeSnapshot(sessions, { ...SNAPSHOT, session_id: "s" });
  const existed: boolean[] = [];
  const files = {
    directory: { sessions },
    isStarted: true,
    markOf: () => ({ run_id: "r", out: 0, err: 0, n: 0 }),
    keep: (work: () => void) => work(),
    noteSnapshot: () => undefined,
    dropSnapshot: () => existed.push(existsSync(join(sessions, "s"))),
  } as unknown as RunFiles;
  const parts = { files, session_id: "s", generation: "g", isAtRest: () => true, state: () => ({}) };
  const keeper = new SnapshotKeeper(parts);
  keeper.leave();
  return { keeper, existed };
}

test("the snapshot of a session that leaves is gone before anything that it needed is", () => {
  expect(leave().existed).toEqual([false]);
});

test("a session that has left gets no snapshot, although its end is reported later", () => {
  leave().keeper.checkpoint({ has_init: true, last_seq: 1 });
  expect(existsSync(join(sessions, "s"))).toBe(false);
});

test("a busy session gets its next snapshot when it has written enough since the last one", () => {
  let out = 100;
  const places: number[] = [];
  const files = {
    directory: { sessions },
    isStarted: true,
    markOf: () => ({ run_id: "r", out, err: 0, n: 0 }),
    keep: (work: () => void) => work(),
    noteSnapshot: (_session_id: string, place: { out: number }) => places.push(place.out),
  } as unknown as RunFiles;
  const parts = { files, session_id: "busy", generation: "g", isAtRest: () => true, state: () => ({}) };
  const keeper = new SnapshotKeeper(parts);
  const about = { has_init: true, last_seq: 1 };
  keeper.checkpoint(about);
  for (out of [150, 199, 200, 299, 300]) keeper.checkpoint(about, 100);
  expect(places).toEqual([100, 200, 300]);
});
