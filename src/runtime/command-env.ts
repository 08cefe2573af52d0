// The environment that commands get: ours without the keys of model providers. A command does not need them, and a
// model tricked into printing one must not be able to.
import type { DemianConfig } from "./config/schema.ts";
import type { Env } from "./state-dir.ts";

const GIT_SETTINGS = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
] as const;
/** Keys and logins of models that need no entry in the configuration. */
const LOGIN_VARIABLES = ["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY"];
/** Make shells and programs run something first. */
const CODE_VARIABLES = ["BASH_ENV", "ENV", "PROMPT_COMMAND"];

export function buildCommandEnv(env: Env, providers: DemianConfig["providers"]): Record<string, string> {
  const names = new Set([...CODE_VARIABLES, ...LOGIN_VARIABLES]);
  const secrets = new Set<string>();
  for (const provider of Object.values(providers)) {
    const { apiKeyEnv, apiKey } = provider as { apiKeyEnv?: unknown; apiKey?: unknown };
    if (typeof apiKeyEnv === "string") names.add(apiKeyEnv);
    if (typeof apiKey === "string" && apiKey !== "") secrets.add(apiKey);
  }
  // The same key under another name.
  for (const name of names) if (!CODE_VARIABLES.includes(name) && env[name]) secrets.add(env[name]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || names.has(name) || secrets.has(value)) continue;
    // Exported shell functions, which override commands of the same name.
    if (!name.startsWith("BASH_FUNC_")) kept[name] = value;
  }
  return { ...kept, ...buildGitSettings(kept["GIT_CONFIG_COUNT"]) };
}

/** Files that look like a repository must not decide what `git status` runs. */
function buildGitSettings(before: string | undefined): Record<string, string> {
  const first = /^\d{1,3}$/.test(before ?? "") ? Number(before) : 0;
  const settings = GIT_SETTINGS.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${first + at}`, key],
    [`GIT_CONFIG_VALUE_${first + at}`, value],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(first + GIT_SETTINGS.length) };
}
