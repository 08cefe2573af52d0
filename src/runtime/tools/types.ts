// What a tool is: the only way to touch the workspace or to start a process.
import type { Delegator, PlannedInvocation } from "../delegation/types.ts";
import type { Decision, PermissionTarget } from "../permissions/types.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { Sandbox } from "../sandbox/types.ts";
import type { FileChange, Workspace } from "../workspace/types.ts";

export type SideEffect = "none" | "workspace" | "process" | "network" | "external";

export interface ToolMetadata {
  sideEffect: SideEffect;
  defaultDecision?: Decision;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, told to the model. */
  readonly inputSchema: Record<string, unknown>;
  readonly metadata: ToolMetadata;
  /** The schema above is guidance for the model; this is the check. `message` names the field and what to do. */
  check(input: unknown): { ok: true; value: unknown } | { ok: false; message: string };
  /** What the call will touch, and what a person is shown before it. Reads at most; throws `ToolError`. */
  plan(value: unknown, context: ToolContext): Promise<ToolPlan>;
  /** Does exactly what the plan says. Failures that the model can mend are results, not throws. */
  execute(value: unknown, plan: ToolPlan, context: ToolContext): Promise<ToolResult>;
}

export interface ToolPlan {
  /** One line: "bash: npm test", "edit_file: src/a.ts". */
  title: string;
  targets: readonly PermissionTarget[];
  /** The whole command, exactly as it will run. */
  command?: string;
  /** Where it will run, absolute. */
  cwd?: string;
  changes?: readonly FileChange[];
  /** Another agent starts, and this is what it is given. */
  invocation?: PlannedInvocation;
  /** Whatever the tool wants to find again in `execute` (the hash of the file that it looked at). */
  memo?: unknown;
}

export interface ToolContext {
  sessionId: string;
  /** Unique within the session, and safe as part of a file name. */
  callId: string;
  agent: string;
  workspace: Workspace;
  sandbox: Sandbox;
  /** The environment that commands get, before the sandbox has a say. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Whether what a search came upon may be shown; the path is real and relative to the workspace. */
  mayRead(path: string): boolean;
  dryRun: boolean;
  /** Output while it runs. */
  progress(text: string): void;
  /** Keeps what is too long for the model; gives back how to name the file to the model. */
  keepOutput(text: string | Buffer): Promise<string>;
  /** A question to the person, where the face can ask one. Undefined: it cannot, or nobody answered. */
  question?(question: UserQuestion): Promise<string | undefined>;
  /** Only where this agent may delegate. */
  delegator?: Delegator;
}

export interface UserQuestion {
  text: string;
  options?: readonly string[];
}

export interface ToolResult {
  ok: boolean;
  /** What the model reads. */
  content: string;
  metadata?: ToolResultMetadata;
  /** What a sub-agent spent: it counts as the turn's own. */
  usage?: TokenUsage;
  /** The person wants no more of this turn. */
  stop?: true;
}

export interface ToolResultMetadata {
  changes?: readonly FileChange[];
  /** How a command was held: "linux-bwrap", "off", … */
  sandbox?: string;
  exitCode?: number;
  signal?: string;
  timedOut?: boolean;
  truncated?: boolean;
  /** The file that holds the full output. */
  outputFile?: string;
  dryRun?: boolean;
  [key: string]: unknown;
}

/** The call cannot be done; the message is for the model. */
export class ToolError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}
