import { join } from "node:path";
import { openInProcessStore } from "../../src/store/index.ts";
import { testStore } from "./conformance.ts";

testStore("sqlite in process", {
  hasTestClock: true,
  open: ({ dir, now }) => openInProcessStore({ kind: "sqlite", path: join(dir, "state", "log.db") }, { now }),
});

testStore("jsonl in process", {
  hasTestClock: true,
  open: ({ dir, now }) => openInProcessStore({ kind: "jsonl", path: join(dir, "events") }, { now }),
});
