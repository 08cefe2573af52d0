// The parts the loop works with. A session assembles them once; a change of agent or model replaces some.
import { defined } from "../base/values.ts";
import type { AgentDefinition } from "./agents/types.ts";
import type { DemianConfig } from "./config/schema.ts";
import type { ContextLimits } from "./context/budget.ts";
import type { Delegator } from "./delegation/types.ts";
import type { EventBody, InvocationFields } from "./events.ts";
import type { History } from "./history.ts";
import type { HookDispatcher, HookInput } from "./hooks/types.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { PermissionGate } from "./permissions/gate.ts";
import type { NativeProvider, ResolvedProvider } from "./providers/types.ts";
import type { Sandbox } from "./sandbox/types.ts";
import type { SessionOrder } from "./session-types.ts";
import type { Steers } from "./steers.ts";
import type { ToolDefinition } from "./tools/types.ts";
import type { Workspace } from "./workspace/types.ts";

export interface Services {
  readonly sessionId: string;
  readonly config: DemianConfig;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly history: History;
  readonly hooks: HookDispatcher;
  readonly gate: PermissionGate;
  readonly agent: AgentDefinition;
  readonly provider: ResolvedProvider;
  readonly systemPrompt: string;
  /** The tools this agent sees, in its order. */
  readonly tools: readonly ToolDefinition[];
  /** Limits of one message, for the main agent or a sub-agent. */
  readonly limits: { maxTurns: number; context: ContextLimits };
  /** This agent's identity in multi-agent mode; otherwise empty. */
  readonly invocation: InvocationFields;
  /** Sub-agents only. */
  readonly subAgent?: SubAgentPlace | undefined;
  /** Messages for the running turn; the main agent only. */
  readonly steers?: Steers | undefined;
  /** Only if this agent may delegate. */
  readonly delegator?: Delegator | undefined;
  /** Commands in the background; main agent only. */
  readonly jobs?: Jobs | undefined;
  /** Text for the model to read before the next message of the user: what the user did meanwhile. Main agent only. */
  takeNotes?(): string;
  /** The environment of commands. */
  readonly env: Readonly<Record<string, string>>;
  /** For external agents: demian's own environment and this workspace's state directory. */
  readonly host: { env: Readonly<Record<string, string | undefined>>; stateDirectory: string };
  readonly dryRun: boolean;
  emit(event: EventBody): void;
  /** For tool calls: saves output that is too long for the model. */
  keepOutput(callId: string, output: string | Buffer): Promise<string>;
  readonly question: SessionOrder["question"];
}

export interface SubAgentPlace {
  mainAgent: string;
  /** The files in `.demian` it may read: its own outputs, and those its handoff names. */
  ownFiles: ReadonlySet<string>;
}

/** With a model that we call ourselves. */
export type NativeServices = Services & { readonly provider: NativeProvider };

/** The fields every hook gets. */
export function buildHookInput(
  services: Services,
  event: HookInput["event"],
  more: Omit<Partial<HookInput>, "event"> = {},
): HookInput {
  const { sessionId, agent, workspace, provider, invocation, subAgent } = services;
  const { rootSessionId, invocationId, agentPath = [] } = invocation;
  return {
    event,
    sessionId,
    ...defined({ rootSessionId, invocationId }),
    ...(rootSessionId === undefined ? {} : { agentPath: [subAgent?.mainAgent ?? agent.name, ...agentPath] }),
    agent: agent.name,
    cwd: workspace.root,
    provider: provider.key,
    model: provider.model,
    ...more,
  };
}
