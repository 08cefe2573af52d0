// Claude Code's directories.
import { join } from "node:path";
import { claudeConfigDir } from "../../base/claude-wire/environment.ts";
import type { Environment } from "../types.ts";

export function projectsDir(env: Environment): string {
  return join(claudeConfigDir(env), "projects");
}
