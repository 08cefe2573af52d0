import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first, so that none of them is left alone at the end. Gemini waits for the next minute twice. */
const LONGEST = [
  "acp/gemini",
  "faces/terminal",
  "acp/opencode",
  "demian/claudecode-cli",
  "claude/approvals",
  "demian/claudecode-sdk",
  "faces/dashboard",
  "manager/",
  "faces/",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.includes(`test/e2e/${name}`));
      return at === -1 ? LONGEST.length : at;
    };
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // Not threads, as in vitest.config.ts.
    pool: "forks",
    // More than cores: half of the time an agent, a browser or a terminal is waited for.
    maxWorkers: 4,
    // Long: they end a test that hangs, and say nothing about speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
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
          env: { E2E_CLAUDE: process.env["E2E_CLAUDE_OLDEST"] ?? "" },
        },
      },
    ],
  },
});
