// What `demian acp` is started with.
import type { Readable, Writable } from "node:stream";
import type { Runtime, RuntimeOrder } from "../session-types.ts";

export interface AcpFlags {
  agent?: string;
  provider?: string;
  model?: string;
  /** A file of configuration, relative to where the program was started. */
  config?: string;
  /** Allow what would be asked. */
  yes?: boolean;
  dryRun?: boolean;
  noTranscript?: boolean;
  /** What other flags say, as a piece of configuration. */
  settings?: Record<string, unknown>;
}

export interface AcpOptions {
  input: Readable;
  output: Writable;
  env: Readonly<Record<string, string | undefined>>;
  flags: AcpFlags;
  version: string;
  /** Takes what the client has no way to be told. */
  warn?(message: string): void;
  /** Ends it as the end of the input does. */
  signal?: AbortSignal;
  /** For embedding programs and tests. */
  createRuntime?(order: RuntimeOrder): Promise<Runtime>;
}
