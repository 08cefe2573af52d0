// What the loop works with. A session puts it together once; a change of agent or model replaces a piece.
import type { AgentDefinition } from "./agents/types.ts";
import type { DemianConfig } from "./config/schema.ts";
import type { EventBody } from "./events.ts";
import type { History } from "./history.ts";
import type { HookDispatcher, HookInput } from "./hooks/types.ts";
import type { PermissionGate } from "./permissions/gate.ts";
import type { ResolvedProvider } from "./providers/types.ts";
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
  readonly env: Readonly<Record<string, string>>;
  readonly dryRun: boolean;
  emit(event: EventBody): void;
  /** For a tool call: keeps what is too long for the model. */
  keepOutput(callId: string, output: string | Buffer): Promise<string>;
  readonly question: SessionOrder["question"];
}

/** What every hook is told. */
export function hookInput(
  services: Services,
  event: HookInput["event"],
  more: Omit<Partial<HookInput>, "event"> = {},
): HookInput {
  const { sessionId, agent, workspace, provider } = services;
  return {
    event,
    sessionId,
    agent: agent.name,
    cwd: workspace.root,
    provider: provider.key,
    model: provider.model,
    ...more,
  };
}
