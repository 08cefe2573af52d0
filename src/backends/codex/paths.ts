// Paths of Codex's files.

import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../types.ts";

export function getCodexHome(env: Environment): string {
  return env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex");
}
