// What both transports need to know about the codex program that they start.
import type { Log } from "../../base/log.ts";
import type { Environment } from "./paths.ts";

export interface CodexProgram {
  /** An absolute path. */
  command: string;
  /** What every codex inherits; without what belongs to one session. */
  env: Environment;
  /** Longer lines of its stdout are skipped. */
  maxLineBytes: number;
  /** For what concerns no session of its own. */
  log?: Log;
}

export type Transport = "app-server" | "mcp-server";
