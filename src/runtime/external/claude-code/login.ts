// Whether there is a login of Claude Code's. Its content is Claude Code's own business: nothing of it is kept or shown.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, messageOf } from "../../../base/coded-error.ts";
import { type Env, homeDir } from "../../state-dir.ts";

/** Undefined: there seems to be one. Else a sentence with what to do. */
export async function missingLogin(
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  if (hasValue(env["CLAUDE_CODE_OAUTH_TOKEN"])) return undefined;
  // With `sanitizeApiKeyEnv: false`, or set in the provider's own `env`.
  if (hasValue(env["ANTHROPIC_API_KEY"]) || hasValue(env["ANTHROPIC_AUTH_TOKEN"])) return undefined;
  const file = join(claudeHome(env), ".credentials.json");
  try {
    const kept: unknown = JSON.parse(await readFile(file, "utf8"));
    if (holdsToken(kept)) return undefined;
    return isInKeychain(platform) ? undefined : `the login in ${file} is empty; ${WHAT_TO_DO}`;
  } catch (error) {
    if (isInKeychain(platform)) return undefined;
    if (errnoOf(error) === "ENOENT")
      return `Claude Code is not logged in: there is no ${file}; ${WHAT_TO_DO}`;
    return `the login of Claude Code in ${file} cannot be read (${messageOf(error)}); ${WHAT_TO_DO}`;
  }
}

export const WHAT_TO_DO =
  "run `claude` and then `/login` there, or set CLAUDE_CODE_OAUTH_TOKEN (`claude setup-token` makes one)";

/** Where Claude Code keeps everything of its own. */
export function claudeHome(env: Env): string {
  return env["CLAUDE_CONFIG_DIR"] || join(homeDir(env), ".claude");
}

/** Asking it would show a dialog; Claude Code asks it itself. */
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
