import { defineConfig } from "vitest/config";
import { CHILD_ENV } from "./test/child-env.ts";
import { longestFirst } from "./test/longest-first.ts";

/** By the time of each file; Gemini waits for the next minute twice, a limit resets after one. */
const LONGEST = [
  "e2e/acp/gemini",
  "e2e/manager/quota",
  "e2e/demian/claudecode-cli",
  "e2e/acp/opencode",
  "e2e/demian/claudecode-sdk",
  "e2e/outlive/",
  "e2e/claude/approvals",
  "e2e/ui/web-page",
  "e2e/ui/terminal",
  "e2e/ui/dashboard",
  "e2e/ui/web",
  "e2e/demian/multi-agent-moments",
  "e2e/demian/claudecode-sessions",
  "e2e/claude/",
  "e2e/manager/",
  "e2e/ui/",
];

export default defineConfig({
  test: {
    // As in the process lane (vitest.config.ts).
    pool: "forks",
    isolate: false,
    // More than cores: half of the time an agent, a browser or a terminal is waited for.
    maxWorkers: 4,
    // Long: they end a test that hangs, and say nothing about speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: CHILD_ENV,
    sequence: { sequencer: longestFirst(LONGEST) },
    projects: [
      { extends: true, test: { name: "e2e", include: ["test/e2e/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "oldest claude",
          // What depends on claude's version; attach.test.ts does not.
          include: [
            "test/e2e/claude/{approvals,conversation,failures,lifecycle,listing,login,own-turns}.test.ts",
          ],
          env: { ...CHILD_ENV, E2E_CLAUDE: process.env["E2E_CLAUDE_OLDEST"] ?? "" },
        },
      },
    ],
  },
});
