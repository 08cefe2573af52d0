// The ledger against its model: any sequence of asks, answers, deaths, failures of the disk and
// restarts, the last also in the middle of a write or of a dispatch. Mostly over a store in memory, which costs nothing;
// every tenth sequence over the real SQLite driver, on a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as sessions from "../../src/sessions/index.ts";
import { openInProcessStore } from "../../src/store/index.ts";
import { FakeStore } from "../sessions/fakes.ts";
import { size } from "../support/sizes.ts";
import { runModel } from "./run-model.ts";

const LIMIT_MS = 1_800_000;

const SEQUENCES = size("LEDGER_SEQUENCES", 300);
const ON_DISK = Math.ceil(SEQUENCES / 10);

test(
  "over a store in memory the ledger does what the model says",
  async () => {
    const store = () => new FakeStore();
    expect(await runModel({ sessions, store, sequences: SEQUENCES - ON_DISK, shrink: true })).toBeUndefined();
  },
  LIMIT_MS,
);

test(
  "over SQLite on disk the ledger does what the model says",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "blemees-ledger-"));
    const store = await openInProcessStore({ kind: "sqlite", path: join(dir, "log.db") });
    try {
      expect(
        await runModel({ sessions, store: () => store, sequences: ON_DISK, shrink: true }),
      ).toBeUndefined();
    } finally {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
  LIMIT_MS,
);
