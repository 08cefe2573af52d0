// Delegation: an agent gives a task to another one, which works in a session of its own under the same root. The root
// keeps all authority; what goes over is a handoff, and what comes back is a short result (§7, §11).
import type { AgentDefinition } from "../agents/types.ts";
import type { ResolvedProvider } from "../providers/types.ts";
import type { ToolResult } from "../tools/types.ts";

export const DELEGATE_TOOL = "delegate_agent";

/** What the model asks for. */
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

/** Who delegates. */
export interface Caller {
  invocationId: string;
  agent: AgentDefinition;
  provider: ResolvedProvider;
  /** Names from the main agent down to this one: the main agent's is `[name]`. */
  path: readonly string[];
  /** Only of a sub-agent: what it may read of `.demian`, and so hand over. */
  ownFiles?: ReadonlySet<string>;
}

/** Everything that was decided before a person is asked. Exactly this is sent. */
export interface PlannedInvocation {
  agent: AgentDefinition;
  provider: ResolvedProvider;
  /** Whether something leaves for another provider than the caller's. */
  crossesProvider: boolean;
  /** What the sub-agent will read. */
  handoff: string;
  /** In words, for the one who is asked: "the current user request", "file paths". */
  receives: readonly string[];
  maxTurns: number;
  /** What happens where no rule and no grant says anything. A denial was refused before. */
  decision: "allow" | "ask";
  /** Where it came from, where that was not you: a file of the project. */
  origin?: string;
  /** Of the agent's definition, where it came with a project: an "always" holds for this text only. */
  digest?: string;
}

/** Of one caller. `plan` throws `ToolError`; `run` never rejects but for a bug. */
export interface Delegator {
  plan(input: AgentInvocationInput, call: { callId: string }): Promise<PlannedInvocation>;
  run(
    input: AgentInvocationInput,
    planned: PlannedInvocation,
    call: { callId: string; signal: AbortSignal },
  ): Promise<ToolResult>;
}

/** The handoff before it becomes text. */
export interface HandoffContext {
  parentAgent: string;
  childAgent: string;
  cwd: string;
  currentUserRequest: string;
  delegation: AgentInvocationInput;
}

export interface HandoffLimits {
  maxHandoffTokens: number;
  /** Of `context` alone. */
  maxDelegateContextTokens: number;
}

/** What a sub-agent keeps between invocations, beside its recent turns. Bounded. */
export interface AgentMemory {
  findings: string[];
  decisions: string[];
  openQuestions: string[];
  relevantFiles: string[];
  lastResults: { task: string; resultPreview: string; ts: number }[];
}
