// What the loop works with. A session puts it together once; a change of agent or model replaces a piece.
import type { AgentDefinition } from "./agents/types.ts";
import type { DemianConfig } from "./config/schema.ts";
import type { ContextLimits } from "./context/budget.ts";
import type { Delegator } from "./delegation/types.ts";
import type { EventBody, InvocationFields } from "./events.ts";
import type { History } from "./history.ts";
import type { HookDispatcher, HookInput } from "./hooks/types.ts";
import type { PermissionGate } from "./permissions/gate.ts";
import type { NativeProvider, ResolvedProvider } from "./providers/types.ts";
import type { Sandbox } from "./sandbox/types.ts";
import type { SessionOrder } from "./session-types.ts";
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
  /** What this agent sees, in its order. */
  readonly tools: readonly ToolDefinition[];
  /** How far one message may go: of the main agent, or of a sub-agent. */
  readonly limits: { maxTurns: number; context: ContextLimits };
  /** Who this is among several agents; empty with one. */
  readonly invocation: InvocationFields;
  /** Only of a sub-agent. */
  readonly subAgent?: SubAgentPlace | undefined;
  /** Only where this agent may delegate. */
  readonly delegator?: Delegator | undefined;
  /** Of commands. */
  readonly env: Readonly<Record<string, string>>;
  /** For agents with a loop of their own: the environment of demian itself, and where this workspace's state is. */
  readonly host: { env: Readonly<Record<string, string | undefined>>; stateDirectory: string };
  readonly dryRun: boolean;
  emit(event: EventBody): void;
  /** For a tool call: keeps what is too long for the model. */
  keepOutput(callId: string, output: string | Buffer): Promise<string>;
  readonly question: SessionOrder["question"];
}

/** What only a sub-agent has. */
export interface SubAgentPlace {
  mainAgent: string;
  /** Of what is kept in `.demian`, what it may read: its own outputs, and those that its handoff names. */
  ownFiles: ReadonlySet<string>;
}

/** With a model that we ask ourselves. */
export type NativeServices = Services & { readonly provider: NativeProvider };

/** What every hook is told. */
export function hookInput(
  services: Services,
  event: HookInput["event"],
  more: Omit<Partial<HookInput>, "event"> = {},
): HookInput {
  const { sessionId, agent, workspace, provider, invocation, subAgent } = services;
  const { rootSessionId, invocationId, agentPath = [] } = invocation;
  return {
    event,
    sessionId,
    ...(rootSessionId === undefined ? {} : { rootSessionId }),
    ...(invocationId === undefined ? {} : { invocationId }),
    ...(rootSessionId === undefined ? {} : { agentPath: [subAgent?.mainAgent ?? agent.name, ...agentPath] }),
    agent: agent.name,
    cwd: workspace.root,
    provider: provider.key,
    model: provider.model,
    ...more,
  };
}
