// Claude Code's directories.
import { join } from "node:path";
import { getClaudeConfigDir } from "../../base/claude-wire/environment.ts";
import type { Environment } from "../types.ts";

export function getProjectsDir(env: Environment): string {
  return join(getClaudeConfigDir(env), "projects");
}
