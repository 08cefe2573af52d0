// The tool interface: tools are the only way to touch the workspace or start a process.
import type { Delegator, PlannedInvocation } from "../delegation/types.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Decision, PermissionTarget } from "../permissions/types.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { Sandbox } from "../sandbox/types.ts";
import type { FileChange, Workspace } from "../workspace/types.ts";
import type { PlanStep } from "./todo.ts";

export type SideEffect = "none" | "workspace" | "process" | "network" | "external";

export interface ToolMetadata {
  sideEffect: SideEffect;
  defaultDecision?: Decision;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, sent to the model. */
  readonly inputSchema: Record<string, unknown>;
  readonly metadata: ToolMetadata;
  /** The schema above is guidance for the model; this is the check. `message` names the field and the fix. */
  check(input: unknown): { ok: true; value: unknown } | { ok: false; message: string };
  /** What the call will touch and what the user is shown before it runs. May only read; throws `ToolError`. */
  plan(value: unknown, context: ToolContext): Promise<ToolPlan>;
  /** Does exactly what the plan says. Failures that the model can fix are results, not throws. */
  execute(value: unknown, plan: ToolPlan, context: ToolContext): Promise<ToolResult>;
}

export interface ToolPlan {
  /** One line: "bash: npm test", "edit_file: src/a.ts". */
  title: string;
  targets: readonly PermissionTarget[];
  /** The whole command, exactly as it runs. */
  command?: string;
  /** Working directory, absolute. */
  cwd?: string;
  changes?: readonly FileChange[];
  /** The sub-agent the call starts, and its handoff. */
  invocation?: PlannedInvocation;
  /** Data for `execute` (for example the hash of the file it read). */
  memo?: unknown;
}

export interface ToolContext {
  sessionId: string;
  /** Unique within the session, and safe as part of a file name. */
  callId: string;
  agent: string;
  workspace: Workspace;
  sandbox: Sandbox;
  /** The environment of commands, before the sandbox changes it. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Whether a search may show this file; the path is real and relative to the workspace. */
  mayRead(path: string): boolean;
  dryRun: boolean;
  /** Shows output while the tool runs. */
  progress(text: string): void;
  /** Shows the agent's list of steps; it replaces the last one. */
  showPlan(steps: readonly PlanStep[]): void;
  /** Saves output that is too long for the model; returns the file name for the model. */
  keepOutput(text: string | Buffer): Promise<string>;
  /** Asks the user a question, if the client supports it. Undefined: it does not, or there was no answer. */
  question?(question: UserQuestion): Promise<string | undefined>;
  /** Commands in the background; main agent only. */
  jobs?: Jobs;
  /** Only if this agent may delegate. */
  delegator?: Delegator;
}

export interface UserQuestion {
  text: string;
  options?: readonly string[];
}

export interface ToolResult {
  ok: boolean;
  /** The text the model reads. */
  content: string;
  metadata?: ToolResultMetadata;
  /** Usage of a sub-agent, added to the turn's. */
  usage?: TokenUsage;
  /** The user stopped the turn. */
  stop?: true;
}

export interface ToolResultMetadata {
  changes?: readonly FileChange[];
  /** The sandbox of a command: "linux-bwrap", "off", … */
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

/** The call cannot be carried out; the message is for the model. */
export class ToolError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}
