import { defineConfig } from "vitest/config";

// The long versions of what the gate runs (sizes come from scripts/chaos.mjs), and what only runs here.
export default defineConfig({
  test: {
    include: [
      "test/chaos/**/*.test.ts",
      "test/client/view/{hostile,markdown,properties}.test.ts",
      "test/crash/**/*.test.ts",
      "test/fuzz/**/*.test.ts",
      "test/git/undo-scripts.test.ts",
      "test/ledger/**/*.test.ts",
      "test/outlive/**/*.test.ts",
      "test/runtime/{abort,multi-agent/abort}.test.ts",
      "test/runtime/sandbox/limits.test.ts",
      "test/runtime/workspace/swap-race.test.ts",
      "test/sessions/budget/family.property.test.ts",
      "test/sessions/core/{rules,seeded-faults}.test.ts",
      "test/sessions/quota-crashes.test.ts",
      "test/store/**/crash.test.ts",
      "test/store/journal/folder.test.ts",
      "test/tui/rows/{hostile,properties,request-rows}.test.ts",
    ],
    pool: "threads",
    // One after another: they measure.
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
  },
});
