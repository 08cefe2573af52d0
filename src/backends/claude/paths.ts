// Where Claude Code keeps its things.
import { homedir } from "node:os";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export function configDir(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude");
}

export function projectsDir(env: Environment): string {
  return join(configDir(env), "projects");
}
