// The environment of Claude Code: ours, without keys that it would use instead of the login, and without the variables of
// a Claude Code that demian was started from.
import { SET_BY_CLAUDE } from "../../../base/claude-wire/environment.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { Env } from "../../state-dir.ts";

/** Claude Code 2.1.197 prefers each of these to its login: keys, and other services that bill per request. */
const REPLACES_LOGIN: ReadonlySet<string> = new Set([
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_AWS_API_KEY",
  "ANTHROPIC_BEDROCK_MANTLE_API_KEY",
  "ANTHROPIC_FEDERATION_RULE_ID",
  "ANTHROPIC_FOUNDRY_API_KEY",
  "ANTHROPIC_IDENTITY_TOKEN",
  "ANTHROPIC_IDENTITY_TOKEN_FILE",
  "ANTHROPIC_PROFILE",
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDE_API_KEY",
  "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
  "CLAUDE_CODE_HOST_AUTH_ENV_VAR",
  "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST",
  "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
  "CLAUDE_CODE_SIMPLE",
  "CLAUDE_CODE_USE_ANTHROPIC_AWS",
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_FOUNDRY",
  "CLAUDE_CODE_USE_GATEWAY",
  "CLAUDE_CODE_USE_MANTLE",
  "CLAUDE_CODE_USE_VERTEX",
]);
const REMOVED: ReadonlySet<string> = new Set(SET_BY_CLAUDE);
const ALWAYS = {
  // Each command starts in the workspace. The user still sees that a "cd" may persist.
  CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
  // Nothing runs after the end of a message, and no update is installed meanwhile.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  DISABLE_AUTOUPDATER: "1",
  // Otherwise it runs git in the workspace with every message, and a repository can make git run programs (filters).
  CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
};

/** `config.env` overrides everything else. */
export function buildClaudeEnvironment(
  env: Env,
  config: Pick<ClaudeCodeConfig, "sanitizeApiKeyEnv" | "env">,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || REMOVED.has(name)) continue;
    if (config.sanitizeApiKeyEnv && replacesLogin(name, value)) continue;
    kept[name] = value;
  }
  return { ...kept, ...ALWAYS, ...config.env };
}

function replacesLogin(name: string, value: string): boolean {
  if (name === "ANTHROPIC_CUSTOM_HEADERS") return /^\s*(authorization|x-api-key)\s*:/im.test(value);
  return REPLACES_LOGIN.has(name);
}
