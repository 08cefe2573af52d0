// Checks who may delegate to whom, before the user is asked. The messages are for the model and name the alternatives.
import { pickNearest } from "../../base/nearest.ts";
import { type AgentRegistry, isCallable } from "../agents/registry.ts";
import type { AgentDefinition } from "../agents/types.ts";
import { ToolError } from "../tools/types.ts";
import type { Caller } from "./types.ts";

/** The caller's position among the agents. */
export type CallerPlace = Pick<Caller, "agent" | "path">;

export interface DelegationOrder {
  caller: CallerPlace;
  targetName: string;
  agents: AgentRegistry;
  /** `delegation.maxDepth` of the configuration. */
  maxDepth: number;
}

/** Throws `ToolError`. */
export function checkDelegation(order: DelegationOrder): AgentDefinition {
  const { caller, targetName, agents } = order;
  const refuse = (code: string, why: string): ToolError =>
    new ToolError(code, `${why} ${listAlternatives(order)}`);
  const target = agents.find(targetName);
  if (target === undefined) throw refuse("unknown_agent", explainUnknown(order));
  if (caller.path.includes(targetName)) throw refuse("delegation_cycle", explainCycle(order));
  if (target.hidden === true)
    throw refuse("agent_hidden", `The agent "${targetName}" is hidden: no agent may delegate to it.`);
  if (!isCallable(target))
    throw refuse("agent_not_callable", `The agent "${targetName}" does not accept tasks from other agents.`);
  if (!canDelegate(caller.agent, getDepth(caller)))
    throw refuse("delegation_not_allowed", `The agent "${caller.agent.name}" may not delegate.`);
  const limit = getDepthLimit(order);
  if (getDepth(caller) >= limit) throw refuse("delegation_too_deep", explainDepth(order, limit));
  if (!isAllowedFor(caller.agent, targetName))
    throw refuse(
      "delegation_not_allowed",
      `The agent "${caller.agent.name}" may not delegate to "${targetName}".`,
    );
  return target;
}

/** The agents listed in the catalog and the schema: never the caller itself, nor one that is waiting for it. */
export function listCallableFor(
  caller: CallerPlace,
  agents: AgentRegistry,
  maxDepth: number,
): AgentDefinition[] {
  const depth = getDepth(caller);
  if (!canDelegate(caller.agent, depth) || depth >= getDepthLimit({ caller, agents, maxDepth })) return [];
  return agents
    .listCallable()
    .filter(({ name }) => !caller.path.includes(name) && isAllowedFor(caller.agent, name));
}

/** By default only the main agent (depth 0) may delegate. */
function canDelegate(agent: AgentDefinition, depth: number): boolean {
  return agent.delegation?.canDelegate ?? depth === 0;
}

/** An empty list allows none. */
function isAllowedFor({ delegation }: AgentDefinition, name: string): boolean {
  const { allowedAgents, deniedAgents } = delegation ?? {};
  return (allowedAgents?.includes(name) ?? true) && !(deniedAgents?.includes(name) ?? false);
}

/** 0 for the main agent. */
function getDepth({ path }: CallerPlace): number {
  return path.length - 1;
}

/** An agent's own `maxDepth` counts from itself and also limits those below it. */
function getDepthLimit({ caller, agents, maxDepth }: Omit<DelegationOrder, "targetName">): number {
  const own = caller.path.map((name, index) => {
    const agent = name === caller.agent.name ? caller.agent : agents.find(name);
    return index + (agent?.delegation?.maxDepth ?? Number.POSITIVE_INFINITY);
  });
  return Math.min(maxDepth, ...own);
}

function explainUnknown({ targetName, caller, agents, maxDepth }: DelegationOrder): string {
  const names = listCallableFor(caller, agents, maxDepth).map(({ name }) => name);
  const guess = pickNearest(targetName, names);
  return `There is no agent "${targetName}".${guess === undefined ? "" : ` Did you mean "${guess}"?`}`;
}

function explainCycle({ caller, targetName }: DelegationOrder): string {
  if (targetName === caller.agent.name) return `"${targetName}" is yourself: that would be a cycle.`;
  const path = [...caller.path, targetName].join(" -> ");
  return `"${targetName}" is already waiting for you (${path}): that would be a cycle.`;
}

function explainDepth({ caller, maxDepth }: DelegationOrder, limit: number): string {
  const why = limit < maxDepth ? "an agent's own maxDepth" : `delegation.maxDepth (${maxDepth})`;
  return `Delegation depth limit reached (${getDepth(caller)} below the main agent): ${why} allows no more.`;
}

function listAlternatives({ caller, agents, maxDepth }: DelegationOrder): string {
  const names = listCallableFor(caller, agents, maxDepth).map(({ name }) => name);
  if (names.length === 0) return "There is no agent to delegate to: do the task yourself.";
  return `You can delegate to ${names.join(", ")}, or do the task yourself.`;
}
