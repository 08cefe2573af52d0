// An agent with its own loop and tools (Claude Code) that is selected like a provider. We send it a message, receive its
// events, and decide what it may do.
import type { AgentDefinition } from "../agents/types.ts";
import type { EventBody } from "../events.ts";
import type { Message, UserContentPart } from "../messages.ts";
import type { PermissionRule } from "../permissions/types.ts";
import type { Effort } from "../providers/effort.ts";
import type { TurnReport } from "../session-types.ts";
import type { ToolPlan, UserQuestion } from "../tools/types.ts";
import type { Workspace } from "../workspace/types.ts";

export interface ExternalRuntime {
  /** The prefix of its tools in rules: `claudecode` for `claudecode.Bash`. */
  readonly executor: string;
  /** For its tools if no rule matches. */
  readonly defaultDecision: ExternalDefault;
  /** Sends one message and waits for the answer. Never rejects. */
  run(turn: ExternalTurn): Promise<ExternalReport>;
  /** What a call would touch, and what the user is shown before it runs. */
  plan(call: ExternalCall, workspace: Workspace): Promise<ExternalPlan>;
}

export interface ExternalPlan extends ToolPlan {
  /** It only reads, or concerns only the other agent's own state. */
  isHarmless: boolean;
  /** The input that is judged, and then used. */
  input: ExternalCall["input"];
}

/** "by-category": reading is allowed, everything else is asked. */
export type ExternalDefault = "by-category" | "allow" | "ask" | "deny";

export interface ExternalTurn {
  rootSessionId: string;
  agent: AgentDefinition;
  /** The agent's, with additions by hooks. */
  systemPrompt: string;
  /** The provider's key in the configuration. */
  profile: string;
  model: string;
  effort?: Effort | undefined;
  /** The workspace: absolute, with symbolic links resolved. */
  cwd: string;
  text: string;
  parts: readonly UserContentPart[];
  /** The conversation so far, without system messages; absent if unknown. */
  history?: readonly Message[];
  /** Set for a sub-agent, which has sessions of its own: the names from below the main agent down to it. */
  agentPath?: readonly string[] | undefined;
  maxTurns: number;
  /** The user's rules: different rules mean a different session. */
  globalRules: readonly PermissionRule[];
  /** Globs as in a .gitignore of the workspace: files that its searches must skip. */
  unreadable: readonly string[];
  /** demian's own, without the keys of other providers. */
  env: Readonly<Record<string, string | undefined>>;
  /** Private to this workspace, and outside it. It may not exist yet. */
  stateDirectory: string;
  signal: AbortSignal;
  emit(event: EventBody): void;
  /** Never rejects. */
  decide(call: ExternalCall, signal: AbortSignal): Promise<ExternalDecision>;
  question?(question: UserQuestion, signal: AbortSignal): Promise<string | undefined>;
}

/** A tool that the other agent wants to use. */
export interface ExternalCall {
  callId: string;
  /** The other agent's name for it: "Bash". */
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** Its own description. */
  title?: string;
  reason?: string;
  /** Its own sub-agents, from the root down. */
  agentPath?: readonly string[];
}

export interface ExternalDecision {
  allowed: boolean;
  /** If allowed with a different input: the one that was judged. */
  input?: Readonly<Record<string, unknown>>;
  /** If allowed: how events show it, as the user saw it. */
  shown?: Pick<ToolPlan, "title" | "changes">;
  /** If refused: the reason for the other agent. */
  reason?: string;
  /** The user stopped the turn. */
  stop?: boolean;
}

/** The same as for our own turns. */
export type ExternalReport = TurnReport;
