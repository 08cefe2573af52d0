// The contract of the sandbox. Every result records the adapter that was used.

import type { Exceeded } from "./watch.ts";

export const SANDBOX_MODES = ["off", "read-only", "workspace-write"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export const DEFAULT_PROCESSES = 1500;
export const DEFAULT_TEMPORARY_MB = 2048;

export type SandboxAdapter = "off" | "macos-sandbox-exec" | "linux-bwrap" | "env-only";

export interface SandboxConfig {
  mode: SandboxMode;
  network: "inherit" | "deny";
  /** Run commands without isolation if no adapter works. */
  allowEnvOnly: boolean;
  /** `.git` is writable in the sandbox. */
  writableGit: boolean;
  /** Additional writable directories. */
  writable?: readonly string[] | undefined;
  /** Additional readable paths in the home directory. */
  readable?: readonly string[] | undefined;
  maxProcesses?: number | undefined;
  maxMemoryMb?: number | undefined;
  /** Of /tmp. */
  maxTemporaryMb?: number | undefined;
}

export interface Sandbox {
  readonly mode: SandboxMode;
  /** Undefined if none works; then commands are refused with `problem`. */
  readonly adapter: SandboxAdapter | undefined;
  /** Why the requested isolation is not available, and what to do. */
  readonly problem?: string;
  /** How much a command may use, as a sentence. */
  readonly limits?: string;
  /** Limits that cannot be enforced here, and why. */
  readonly gaps?: readonly string[];
  /** Runs `command` with a shell. Rejects with `ToolError` if it cannot be started. */
  run(request: CommandRequest): Promise<CommandResult>;
}

export interface CommandRequest {
  command: string;
  /** A real path in the workspace. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Hides stored tool output of other agents. */
  isOfSubAgent?: boolean;
  /** Output of stdout and stderr. */
  output(chunk: Buffer): void;
}

export interface CommandResult {
  code?: number;
  signal?: string;
  timedOut: boolean;
  aborted: boolean;
  /** Why it was ended. */
  exceeded?: Exceeded;
  adapter: SandboxAdapter;
}
