// Where Codex keeps its things.
import { homedir } from "node:os";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export function codexHome(env: Environment): string {
  return env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex");
}
