// The files in which claude stores permissions for good.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { getClaudeConfigDir } from "../../base/claude-wire/environment.ts";
import type { Environment } from "../types.ts";
import type { SettingsFiles } from "./suggestions.ts";

const GIT_LIMIT_MS = 2000;

/**
 * `gitIgnore`: what `findGlobalIgnore` has found. The returned function looks again for each request: the agent may have
 * created a repository meanwhile.
 */
export function locateSettings(env: Environment, cwd: string, gitIgnore: string): () => SettingsFiles {
  const files = {
    userSettings: join(getClaudeConfigDir(env), "settings.json"),
    projectSettings: join(cwd, ".claude", "settings.json"),
    localSettings: join(cwd, ".claude", "settings.local.json"),
  };
  return () => (isInRepository(cwd) ? { ...files, gitIgnore } : files);
}

/** Git's list of ignored files, as claude finds it (2.1.197). */
export async function findGlobalIgnore(env: Environment): Promise<string> {
  const home = env["HOME"] || homedir();
  const configured = await new Promise<string>((answer) => {
    const args = ["config", "--global", "--get", "core.excludesfile"];
    execFile("git", args, { env, timeout: GIT_LIMIT_MS }, (error, stdout) =>
      answer(error === null ? stdout.trim() : ""),
    );
  });
  if (configured.startsWith("~/")) return join(home, configured.slice(2));
  if (isAbsolute(configured)) return configured;
  const xdg = env["XDG_CONFIG_HOME"] ?? "";
  return isAbsolute(xdg) ? join(xdg, "git", "ignore") : join(home, ".config", "git", "ignore");
}

function isInRepository(cwd: string): boolean {
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".git"))) return true;
    if (dir === dirname(dir)) return false;
  }
}
