// The environment of what demian starts. Hooks and other agents get ours without the keys of model providers; commands of
// the model get only variables from a short list. A model tricked into printing a key must not be able to.
import type { DemianConfig } from "./config/schema.ts";
import { selectVariables } from "./sandbox/variables.ts";
import type { Env } from "./state-dir.ts";

const GIT_SETTINGS = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
] as const;
/** Keys and logins of models that need no entry in the configuration. */
const LOGIN_VARIABLES = ["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY"];
/** Make shells and programs run something first. */
const CODE_VARIABLES = ["BASH_ENV", "ENV", "PROMPT_COMMAND"];

/** For commands of the model. `more`: further variables, by name. */
export function buildCommandEnv(
  env: Env,
  providers: DemianConfig["providers"],
  more: readonly string[] = [],
): Record<string, string> {
  return { ...selectVariables(removeKeys(env, providers), more), ...buildGitSettings(undefined) };
}

/** For hooks, other agents, and commands without a sandbox. */
export function buildOpenEnv(env: Env, providers: DemianConfig["providers"]): Record<string, string> {
  const kept = removeKeys(env, providers);
  return { ...kept, ...buildGitSettings(kept["GIT_CONFIG_COUNT"]) };
}

function removeKeys(env: Env, providers: DemianConfig["providers"]): Record<string, string> {
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
  return kept;
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
