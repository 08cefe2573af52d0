// The environment of Claude Code: ours, without what would make it pay with a key instead of the login, and without
// what another Claude Code around us left behind.
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { Env } from "../../state-dir.ts";

/** Claude Code 2.1.197 takes each of these before its login: keys, and other places that are billed by the request. */
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
/** Of a Claude Code that runs us: CLAUDECODE makes some versions refuse to start, the others are about its session. */
const LEFT_BEHIND: ReadonlySet<string> = new Set([
  "AI_AGENT",
  "CLAUDECODE",
  "CLAUDE_AGENT_SDK_VERSION",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SDK_READS_SESSION_STATE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_EFFORT",
]);
const ALWAYS = {
  // Commands start in the workspace, whatever the last one did; who is asked is told that a "cd" may hold all the same.
  CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
  // Nothing goes on behind the end of a message, and nothing is installed meanwhile.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  DISABLE_AUTOUPDATER: "1",
  // With every message it asks git for the state of the workspace, and a repository can say what git runs then (filters).
  CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
};

/** `config.env` is the user's word and stands last. */
export function claudeEnvironment(
  env: Env,
  config: Pick<ClaudeCodeConfig, "sanitizeApiKeyEnv" | "env">,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || LEFT_BEHIND.has(name)) continue;
    if (config.sanitizeApiKeyEnv && replacesLogin(name, value)) continue;
    kept[name] = value;
  }
  return { ...kept, ...ALWAYS, ...config.env };
}

function replacesLogin(name: string, value: string): boolean {
  if (name === "ANTHROPIC_CUSTOM_HEADERS") return /^\s*(authorization|x-api-key)\s*:/im.test(value);
  return REPLACES_LOGIN.has(name);
}
