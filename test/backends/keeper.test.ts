import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SnapshotKeeper } from "../../src/backends/keeper.ts";
import type { RunFiles } from "../../src/base/runs/run-files.ts";
import { writeSnapshot } from "../../src/base/runs/snapshots.ts";
import { tempDir } from "./temp-dir.ts";

const sessions = tempDir("keeper");
const SNAPSHOT = { generation: "g", last_seq: 0, out: 0, err: 0, n: 0, has_init: true, state: {} };

test("the snapshot of a session that leaves is gone before anything that it needed is", () => {
  writeSnapshot(sessions, { ...SNAPSHOT, session_id: "s" });
  const existed: boolean[] = [];
  const files = {
    directory: { sessions },
    dropSnapshot: () => existed.push(existsSync(join(sessions, "s"))),
  } as unknown as RunFiles;
  const parts = { files, session_id: "s", generation: "g", isAtRest: () => true, state: () => ({}) };
  new SnapshotKeeper(parts).leave();
  expect(existed).toEqual([false]);
});
