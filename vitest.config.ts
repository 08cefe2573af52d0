import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/e2e/**", "test/chaos/**"],
    pool: "threads",
    maxWorkers: 2,
    // Real processes on a shared machine: CI looks twice before it calls a change broken. A fault fails twice.
    retry: process.env["CI"] === undefined ? 0 : 1,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
