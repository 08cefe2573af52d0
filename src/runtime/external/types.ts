// An agent that is selected like a provider and has its own loop and its own tools (Claude Code). We give it a message,
// are told what it does, and decide what it may do.
import type { AgentDefinition } from "../agents/types.ts";
import type { EventBody } from "../events.ts";
import type { Message, UserContentPart } from "../messages.ts";
import type { PermissionRule } from "../permissions/types.ts";
import type { TurnReport } from "../session-types.ts";
import type { ToolPlan, UserQuestion } from "../tools/types.ts";
import type { Workspace } from "../workspace/types.ts";

export interface ExternalRuntime {
  /** Who runs its tools: "claudecode". Rules name them `claudecode.Bash`. */
  readonly executor: string;
  /** What happens to its tools where no rule fits. */
  readonly defaultDecision: ExternalDefault;
  /** One message until its answer. Never rejects. */
  run(turn: ExternalTurn): Promise<ExternalReport>;
  /** What one of its tools would touch, and what a person is shown before it. */
  plan(call: ExternalCall, workspace: Workspace): Promise<ExternalPlan>;
}

export interface ExternalPlan extends ToolPlan {
  /** It only looks, or concerns the other agent alone. */
  isHarmless: boolean;
  /** As it was judged, and as it is then to be done. */
  input: ExternalCall["input"];
}

/** "by-category": what only reads is allowed, everything else is asked. */
export type ExternalDefault = "by-category" | "allow" | "ask" | "deny";

export interface ExternalTurn {
  rootSessionId: string;
  agent: AgentDefinition;
  /** The agent's, with what hooks added. */
  systemPrompt: string;
  /** The provider's key in the configuration. */
  profile: string;
  model: string;
  /** The workspace: absolute and real. */
  cwd: string;
  text: string;
  parts: readonly UserContentPart[];
  /** What was said before, without system messages; absent: nothing is known of it. */
  history?: readonly Message[];
  /** Another agent asks it: the names from below the main agent down to it. Its sessions are its own. */
  agentPath?: readonly string[] | undefined;
  maxTurns: number;
  /** The user's rules: who has others has other permissions, and so another session. */
  globalRules: readonly PermissionRule[];
  /** Globs as in a .gitignore of the workspace: what its own searches must not come upon. */
  unreadable: readonly string[];
  /** Of demian itself, without the keys of other providers. */
  env: Readonly<Record<string, string | undefined>>;
  /** Of this workspace, private, outside of it. It may not exist yet. */
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
  /** As the other agent calls it: "Bash". */
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** Its own words about it. */
  title?: string;
  reason?: string;
  /** Its own sub-agents, from the top down. */
  agentPath?: readonly string[];
}

export interface ExternalDecision {
  allowed: boolean;
  /** With "allowed", where it differs from what was asked: what was judged, and may be done. */
  input?: Readonly<Record<string, unknown>>;
  /** With "allowed": how it is told, as the person saw it. */
  shown?: Pick<ToolPlan, "title" | "changes">;
  /** Told to the other agent with a refusal. */
  reason?: string;
  /** The person wants no more of this turn. */
  stop?: boolean;
}

/** The same as of a turn of ours. */
export type ExternalReport = TurnReport;
