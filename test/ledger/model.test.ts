// The ledger against its model (SAFETY, DESIGN §6.5): any sequence of asks, answers, deaths, failures of the disk and
// restarts, the last also in the middle of a write or of a dispatch. Mostly over a store in memory, which costs nothing;
// every tenth sequence over the real SQLite driver, on a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as sessions from "../../src/sessions/index.ts";
import { openInProcessStore } from "../../src/store/index.ts";
import { FakeStore } from "../sessions/fakes.ts";
import { runModel } from "./run-model.ts";

const LIMIT_MS = 120_000;

test(
  "4,500 sequences over a store in memory: the ledger does what the model says",
  async () => {
    const store = () => new FakeStore();
    expect(await runModel({ sessions, store, sequences: 4500, shrink: true })).toBeUndefined();
  },
  LIMIT_MS,
);

test(
  "500 sequences over SQLite on disk: the ledger does what the model says",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "blemees-ledger-"));
    const store = await openInProcessStore({ kind: "sqlite", path: join(dir, "log.db") });
    try {
      expect(await runModel({ sessions, store: () => store, sequences: 500, shrink: true })).toBeUndefined();
    } finally {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
  LIMIT_MS,
);
