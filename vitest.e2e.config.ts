import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.test.ts"],
    pool: "threads",
    // A claude needs 0.8 s of a core to start; two files at a time keep two cores busy.
    maxWorkers: 2,
    // Real processes on a shared machine: CI looks twice before it calls a change broken. A fault fails twice.
    retry: process.env["CI"] === undefined ? 0 : 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
