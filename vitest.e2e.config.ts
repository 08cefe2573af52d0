import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "threads",
    // A claude needs 0.8 s of a core to start; two files at a time keep two cores busy.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "e2e", include: ["test/e2e/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "oldest claude",
          include: ["test/e2e/claude/*.test.ts"],
          env: { E2E_CLAUDE: process.env["E2E_CLAUDE_OLDEST"] ?? "" },
        },
      },
    ],
  },
});
