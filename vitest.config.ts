import { defineConfig } from "vitest/config";
import { CHILD_ENV } from "./test/child-env.ts";
import { sortTests } from "./test/lanes.ts";
import { longestFirst } from "./test/longest-first.ts";

const lanes = sortTests(import.meta.dirname);
// No `retry` anywhere: a test that needs a second attempt is a defect.
// Long: they end a test that hangs, and say nothing about speed.
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 45_000 } } };

/** From a dozen seconds up; most of them wait. */
const LONGEST = [
  "cli/blemees/daemon.test",
  "outlive/",
  "backends/codex/pool",
  "faults/backend",
  "cli/blemees/restart",
  "servers/socket/restart",
  "servers/socket/damage",
  "backends/codex/conformance",
  "daemon/shutdown",
  "cli/blemees/program",
  "servers/socket/requests-lives",
  "store/thread",
  "web/client",
  "crash/",
  "backends/codex/run",
  "daemon/not-run",
  "cli/blemees/",
  "backends/acp/faults",
  "servers/socket/never-reads",
  "servers/http-load/",
  "daemon/crash",
  "runtime/sandbox/escape",
  "cli/demian/tui/screen",
  "client/view/source",
];

// Two lanes, run by scripts/test.mjs one after the other with a time budget each.
export default defineConfig({
  test: {
    sequence: { sequencer: longestFirst(LONGEST) },
    projects: [
      {
        test: {
          name: "unit",
          include: lanes.unit,
          setupFiles: ["test/support/seed.ts"],
          pool: "threads",
          // Modules are loaded once per worker, not once per file: that was a third of the time.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          ...limits,
        },
      },
      {
        test: {
          name: "process",
          include: lanes.process,
          setupFiles: ["test/support/seed.ts"],
          // Not threads: to start a process is to fork, which copies the page tables of everything that runs in this
          // one (60 ms instead of 1 at 800 MB), and the copy holds the pipes and sockets of all tests open meanwhile.
          pool: "forks",
          // As above; a helper therefore makes nothing at import that ends with a file (test/backends/temp-dir.ts).
          isolate: false,
          // More than cores: these tests mostly wait for a process to start, to answer or to end.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
          env: CHILD_ENV,
          ...limits,
        },
      },
    ],
  },
});
