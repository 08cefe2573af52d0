// Checks logins of other programs that providers use: existence, expiry and file permissions. Sends nothing over the
// network and never shows credentials.
import type { DemianConfig } from "../../../runtime/config/schema.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "../../checks.ts";

/** Does not report a missing login that no agent uses. */
export async function checkLogins(config: DemianConfig, env: Env): Promise<Check[]> {
  const checks = await Promise.all(
    Object.entries(config.providers).map(async ([key, provider]): Promise<Check[]> => {
      const isUsed = isProviderUsed(config, key);
      if (provider.type === "codex") {
        return (await import("./codex.ts")).checkCodex({ key, provider, env, isUsed });
      }
      if (provider.type !== "claudecode") return [];
      return (await import("./claude-code.ts")).checkClaudeCode({ key, provider, env, isUsed });
    }),
  );
  return unique(checks.flat());
}

function isProviderUsed({ defaultProvider, agents }: DemianConfig, key: string): boolean {
  return defaultProvider === key || Object.values(agents).some(({ provider }) => provider?.profile === key);
}

/** `claudecode` and `claudecode-plan` report the same problems. */
function unique(checks: readonly Check[]): Check[] {
  const isSame = (a: Check, b: Check): boolean => a.name === b.name && a.text === b.text;
  return checks.filter((check, at) => checks.findIndex((other) => isSame(check, other)) === at);
}
