// What both transports need to know about the codex program.

import type { Log } from "../../base/log.ts";
import type { Environment } from "../types.ts";

export interface CodexProgram {
  /** An absolute path. */
  command: string;
  /** Inherited by every codex; without session-specific variables. */
  env: Environment;
  /** Longer stdout lines are skipped. */
  maxLineBytes: number;
  /** For messages that concern no session of its own. */
  log?: Log;
}

export type Transport = "app-server" | "mcp-server";
