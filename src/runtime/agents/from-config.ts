// Agents of the configuration become definitions, once what they name exists (§12, loader validation). One that is wrong is
// left out and told; the others work.
import { CodedError } from "../../base/coded-error.ts";
import { nearest } from "../../base/nearest.ts";
import type { AgentConfig, DemianConfig } from "../config/schema.ts";
import { BUILTIN_AGENTS } from "./builtin.ts";
import { AgentRegistry } from "./registry.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface AgentsOrder {
  config: Pick<DemianConfig, "agents" | "providers">;
  /** Where each of them comes from (config/load.ts). */
  sources: ReadonlyMap<string, RegistrySource>;
  /** The tools that are registered. */
  toolNames: readonly string[];
  /** Providers of the embedding program, beside the configured ones. */
  providerKeys?: readonly string[];
  /** Without the built-in ones. */
  isAlone?: boolean;
}

export function createAgentRegistry(order: AgentsOrder): { agents: AgentRegistry; warnings: string[] } {
  const agents = new AgentRegistry();
  const warnings: string[] = [];
  for (const agent of order.isAlone === true ? [] : BUILTIN_AGENTS)
    agents.register(agent, { scope: "builtin", trusted: true });
  for (const [name, config] of Object.entries(order.config.agents)) {
    const source = order.sources.get(name) ?? { scope: "user", trusted: true };
    const fault = findFault(name, config, order);
    const isTaken = fault === undefined && !agents.register(agentFromConfig(name, config), source);
    const why = isTaken ? "that name belongs to a built-in agent; choose another one" : fault;
    if (why !== undefined)
      warnings.push(`${source.path ?? "config"}: the agent "${name}" is left out: ${why}`);
  }
  return { agents, warnings };
}

/** For a session with the user. Throws `unknown_agent`. */
export function mainAgent(agents: AgentRegistry, name: string): AgentDefinition {
  const agent = agents.get(name);
  if (agent.mode !== "subagent") return agent;
  const names = agents.primary().map((primary) => primary.name);
  throw new CodedError(
    "unknown_agent",
    `the agent "${name}" only works for other agents; choose one of ${names.join(", ")}`,
  );
}

function agentFromConfig(name: string, config: AgentConfig): AgentDefinition {
  const { authority, tools, permissions, defaultDecision, name: _, ...rest } = config;
  const allowed = authority?.tools?.map(bare);
  const decision = authority?.defaultDecision ?? defaultDecision;
  const agent: Record<string, unknown> = {
    ...rest,
    name,
    tools: { visible: tools.visible.map(bare).filter((tool) => allowed?.includes(tool) ?? true) },
    permissions: [...(authority?.permissions ?? []), ...permissions],
    ...(decision === undefined ? {} : { defaultDecision: decision }),
  };
  return agent as unknown as AgentDefinition;
}

function findFault(name: string, config: AgentConfig, order: AgentsOrder): string | undefined {
  if (config.name !== undefined && config.name !== name)
    return `its "name" is "${config.name}"; make it "${name}" or remove it`;
  const visible = config.tools.visible.map(bare);
  const lost = visible.find((tool) => !order.toolNames.includes(tool));
  if (lost !== undefined) return `there is no tool "${lost}"${guess(lost, order.toolNames)}`;
  const profile = config.provider?.profile;
  const keys = [...Object.keys(order.config.providers), ...(order.providerKeys ?? [])];
  if (profile !== undefined && !keys.includes(profile))
    return `there is no provider "${profile}"${guess(profile, keys)}`;
  return undefined;
}

function guess(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? `; there are ${known.join(", ")}` : `; did you mean "${near}"?`;
}

/** `demian.bash` is `bash`. */
function bare(tool: string): string {
  return tool.replace(/^demian\./, "");
}
