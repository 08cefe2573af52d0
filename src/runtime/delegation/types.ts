// Delegation: an agent gives a task to another one, which works in its own session under the same root. The root keeps
// all authority; a handoff goes out, and a short result comes back.
import type { AgentDefinition } from "../agents/types.ts";
import type { ResolvedProvider } from "../providers/types.ts";
import type { ToolResult } from "../tools/types.ts";

export const DELEGATE_TOOL = "delegate_agent";

/** The model's input. */
export interface AgentInvocationInput {
  agent: string;
  task: string;
  context?: string | undefined;
  contextRefs?: string[] | undefined;
  relevantFiles?: string[] | undefined;
  constraints?: string[] | undefined;
  expectedOutput?: string | undefined;
  maxTurns?: number | undefined;
  returnMode?: "brief" | "normal" | undefined;
}

/** The delegating agent. */
export interface Caller {
  invocationId: string;
  agent: AgentDefinition;
  provider: ResolvedProvider;
  /** Agent names from the main agent down to this one; `[name]` for the main agent. */
  path: readonly string[];
  /** Sub-agents only: the files in `.demian` it may read and pass on. */
  ownFiles?: ReadonlySet<string>;
}

/** The plan the user is asked about. Exactly this is sent. */
export interface PlannedInvocation {
  agent: AgentDefinition;
  provider: ResolvedProvider;
  /** Whether data goes to a different provider than the caller's. */
  crossesProvider: boolean;
  /** The text the sub-agent will read. */
  handoff: string;
  /** Labels for the user: "the current user request", "file paths". */
  receives: readonly string[];
  maxTurns: number;
  /** Applies if no rule and no grant matches. A denial was refused earlier. */
  decision: "allow" | "ask";
  /** The project file that defines it, if it is not the user's own agent. */
  origin?: string;
  /** Digest of a project agent's definition: an "always" grant holds for this version only. */
  digest?: string;
}

/** For one caller. `plan` throws `ToolError`; `run` rejects only for a bug. */
export interface Delegator {
  plan(input: AgentInvocationInput, call: { callId: string }): Promise<PlannedInvocation>;
  run(
    input: AgentInvocationInput,
    planned: PlannedInvocation,
    call: { callId: string; signal: AbortSignal },
  ): Promise<ToolResult>;
}

/** The handoff before it is rendered. */
export interface HandoffContext {
  parentAgent: string;
  childAgent: string;
  cwd: string;
  currentUserRequest: string;
  delegation: AgentInvocationInput;
}

export interface HandoffLimits {
  maxHandoffTokens: number;
  /** Limit of `context` alone. */
  maxDelegateContextTokens: number;
}

/** A sub-agent's memory between tasks, besides its recent turns. Bounded. */
export interface AgentMemory {
  findings: string[];
  decisions: string[];
  openQuestions: string[];
  relevantFiles: string[];
  lastResults: { task: string; resultPreview: string; ts: number }[];
}
