// How commands are held. The adapter that really held a command is recorded on every call.

export const SANDBOX_MODES = ["off", "read-only", "workspace-write"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export type SandboxAdapter = "off" | "macos-sandbox-exec" | "linux-bwrap" | "env-only";

export interface SandboxConfig {
  mode: SandboxMode;
  network: "inherit" | "deny";
  /** Run commands without isolation where no adapter works: only by this consent. */
  allowEnvOnly: boolean;
  /** `.git` may be written in the sandbox. */
  writableGit: boolean;
  /** More directories that commands may write. */
  writable?: readonly string[] | undefined;
}

export interface Sandbox {
  readonly mode: SandboxMode;
  /** Undefined: none works here, and commands are refused with `problem`. */
  readonly adapter: SandboxAdapter | undefined;
  /** Why there is no isolation although it was asked for, and what to do. */
  readonly problem?: string;
  /** Runs `command` with a shell. Rejects with `ToolError` when it cannot be started at all. */
  run(order: CommandOrder): Promise<CommandResult>;
}

export interface CommandOrder {
  command: string;
  /** Absolute, real, in the workspace. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Then what tools kept for other agents looks empty. */
  isOfSubAgent?: boolean;
  /** Output of both streams as it comes. */
  output(chunk: Buffer): void;
}

export interface CommandResult {
  code?: number;
  signal?: string;
  timedOut: boolean;
  aborted: boolean;
  adapter: SandboxAdapter;
}
