// Checks whether Claude Code is logged in. The login itself is never kept or shown.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getClaudeConfigDir } from "../../../base/claude-wire/environment.ts";
import { readErrno, toMessage } from "../../../base/coded-error.ts";
import type { Env } from "../../state-dir.ts";

/** Undefined if there seems to be a login; otherwise the problem and what to do. */
export async function findLoginProblem(
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  if (hasValue(env["CLAUDE_CODE_OAUTH_TOKEN"])) return undefined;
  // With `sanitizeApiKeyEnv: false`, or set in the provider's own `env`.
  if (hasValue(env["ANTHROPIC_API_KEY"]) || hasValue(env["ANTHROPIC_AUTH_TOKEN"])) return undefined;
  const file = join(getClaudeConfigDir(env), ".credentials.json");
  try {
    const kept: unknown = JSON.parse(await readFile(file, "utf8"));
    if (holdsToken(kept)) return undefined;
    return isInKeychain(platform) ? undefined : `the Claude Code login in ${file} is empty; ${LOGIN_ADVICE}`;
  } catch (error) {
    if (isInKeychain(platform)) return undefined;
    if (readErrno(error) === "ENOENT")
      return `Claude Code is not logged in: there is no ${file}; ${LOGIN_ADVICE}`;
    return `cannot read the Claude Code login in ${file} (${toMessage(error)}); ${LOGIN_ADVICE}`;
  }
}

export const LOGIN_ADVICE =
  "run `claude` and type `/login`, or set CLAUDE_CODE_OAUTH_TOKEN (create one with `claude setup-token`)";

/** Not checked: reading the keychain would show a dialog. */
function isInKeychain(platform: NodeJS.Platform): boolean {
  return platform === "darwin";
}

function holdsToken(kept: unknown): boolean {
  const login = (kept as { claudeAiOauth?: { accessToken?: unknown } } | null)?.claudeAiOauth;
  return typeof login?.accessToken === "string" && login.accessToken !== "";
}

function hasValue(text: string | undefined): boolean {
  return text !== undefined && text !== "";
}
