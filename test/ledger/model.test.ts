// The ledger against its model: any sequence of requests, answers, agent deaths, disk failures and restarts, including
// restarts in the middle of a write or dispatch. Mostly with an in-memory store, which is cheap; every tenth sequence
// uses the real SQLite driver on a file.
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
  "with a store in memory the ledger behaves like the model",
  async () => {
    const store = () => new FakeStore();
    expect(await runModel({ sessions, store, sequences: SEQUENCES - ON_DISK, shrink: true })).toBeUndefined();
  },
  LIMIT_MS,
);

test(
  "with SQLite on disk the ledger behaves like the model",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "blemees-ledger-"));
    const store = await openInProcessStore({ path: join(dir, "log.db") });
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
