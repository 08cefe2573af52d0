// Options of `demian acp`.
import type { Readable, Writable } from "node:stream";
import type { Effort } from "../providers/effort.ts";
import type { Runtime, RuntimeOrder } from "../session-types.ts";

export interface AcpFlags {
  agent?: string;
  provider?: string;
  model?: string;
  effort?: Effort;
  /** A configuration file, relative to the working directory. */
  config?: string;
  /** Allow instead of asking. */
  yes?: boolean;
  dryRun?: boolean;
  noTranscript?: boolean;
  /** Other flags, as configuration. */
  settings?: Record<string, unknown>;
}

export interface AcpOptions {
  input: Readable;
  output: Writable;
  env: Readonly<Record<string, string | undefined>>;
  flags: AcpFlags;
  version: string;
  /** For problems that cannot be sent to the client. */
  warn?(message: string): void;
  /** Same effect as the end of the input. */
  signal?: AbortSignal;
  /** For embedding programs and tests. */
  createRuntime?(order: RuntimeOrder): Promise<Runtime>;
}
