import { join } from "node:path";
import { openInProcessStore } from "../../src/store/index.ts";
import { testStore } from "./conformance.ts";

testStore("sqlite in process", {
  hasTestClock: true,
  open: ({ dir, now }) => openInProcessStore({ path: join(dir, "state", "log.db") }, { now }),
});

testStore("sqlite in process with JSONL files", {
  hasTestClock: true,
  open: ({ dir, now }) => {
    return openInProcessStore({ path: join(dir, "log.db"), jsonl: { dir: join(dir, "jsonl") } }, { now });
  },
});
