// The real claude in its own environment.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MockAnthropic, startMockAnthropic } from "../../tools/mock-anthropic.mjs";
import { createWorld, type World } from "../world.ts";

export type ClaudeWorld = World<MockAnthropic>;

/** Sessions may do everything unless they set otherwise. */
export async function openWorld(env: Record<string, string> = {}): Promise<ClaudeWorld> {
  const claude = claudeProgram();
  const model = await startMockAnthropic();
  return createWorld({
    backend: "claude",
    model,
    furnish(home, cwd) {
      trust(join(home, "claude"), cwd);
      return {
        env: { BLEMEESD_CLAUDE: claude, ...claudeEnvironment(model.url), ...env },
        options: { cwd, permission_mode: "bypassPermissions", include_partial_messages: true },
      };
    },
  });
}

export function claudeProgram(): string {
  const claude = process.env["E2E_CLAUDE"];
  if (claude === undefined) throw new Error("E2E_CLAUDE is not set: run `npm run test:e2e`");
  return claude;
}

/** As a user does at claude's first start in a directory; without it claude takes no rules from there (2.1.197). */
export function trust(configDir: string, cwd: string): void {
  mkdirSync(configDir, { mode: 0o700 });
  const state = { projects: { [cwd]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(configDir, ".claude.json"), JSON.stringify(state));
}

/** No account, no traffic to any other host, no minutes of retries. */
export function claudeEnvironment(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-mock",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_GROWTHBOOK: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    IS_SANDBOX: "1",
  };
}
