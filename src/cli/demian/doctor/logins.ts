// Logins of other programs that providers use: whether they are there, how long they last, and whether only their owner can
// read them. Nothing is sent anywhere, and nothing of what is in them is shown.
import type { DemianConfig } from "../../../runtime/config/schema.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "./check.ts";

/** A login that nobody uses and that is not there is not worth a word. */
export async function checkLogins(config: DemianConfig, env: Env): Promise<Check[]> {
  const checks = await Promise.all(
    Object.entries(config.providers).map(async ([key, provider]): Promise<Check[]> => {
      const isUsed = usesOf(config, key);
      if (provider.type === "codex") {
        return (await import("./codex.ts")).checkCodex({ key, provider, env, isUsed });
      }
      if (provider.type !== "claudecode") return [];
      return (await import("./claude-code.ts")).checkClaudeCode({ key, provider, env, isUsed });
    }),
  );
  return unique(checks.flat());
}

function usesOf({ defaultProvider, agents }: DemianConfig, key: string): boolean {
  return defaultProvider === key || Object.values(agents).some(({ provider }) => provider?.profile === key);
}

/** `claudecode` and `claudecode-plan` find the same things. */
function unique(checks: readonly Check[]): Check[] {
  const isSame = (a: Check, b: Check): boolean => a.name === b.name && a.text === b.text;
  return checks.filter((check, at) => checks.findIndex((other) => isSame(check, other)) === at);
}
