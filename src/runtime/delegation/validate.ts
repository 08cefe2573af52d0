// Who may delegate to whom (§11). What is refused here is refused before anybody is asked; the messages are for the
// model that tried, and say what it can do instead.
import { nearest } from "../../base/nearest.ts";
import { type AgentRegistry, isCallable } from "../agents/registry.ts";
import type { AgentDefinition } from "../agents/types.ts";
import { ToolError } from "../tools/types.ts";
import type { Caller } from "./types.ts";

/** Whose place among the agents it is. */
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
  const refuse = (code: string, why: string): ToolError => new ToolError(code, `${why} ${instead(order)}`);
  const target = agents.find(targetName);
  if (target === undefined) throw refuse("unknown_agent", unknown(order));
  if (caller.path.includes(targetName)) throw refuse("delegation_cycle", cycle(order));
  if (target.hidden === true)
    throw refuse("agent_hidden", `The agent "${targetName}" is hidden: no agent may delegate to it.`);
  if (!isCallable(target))
    throw refuse("agent_not_callable", `The agent "${targetName}" does not work for other agents.`);
  if (!canDelegate(caller.agent, depthOf(caller)))
    throw refuse("delegation_not_allowed", `The agent "${caller.agent.name}" may not delegate.`);
  const limit = limitOf(order);
  if (depthOf(caller) >= limit) throw refuse("delegation_too_deep", tooDeep(order, limit));
  if (!isAllowedFor(caller.agent, targetName))
    throw refuse(
      "delegation_not_allowed",
      `The agent "${caller.agent.name}" may not delegate to "${targetName}".`,
    );
  return target;
}

/** What goes into the catalog and into the schema: never itself, nor anyone that waits for it. */
export function callableFor(caller: CallerPlace, agents: AgentRegistry, maxDepth: number): AgentDefinition[] {
  const depth = depthOf(caller);
  if (!canDelegate(caller.agent, depth) || depth >= limitOf({ caller, agents, maxDepth })) return [];
  return agents
    .callable()
    .filter(({ name }) => !caller.path.includes(name) && isAllowedFor(caller.agent, name));
}

/** `depth` steps below the main agent: that one by default, a sub-agent if it says so. */
function canDelegate(agent: AgentDefinition, depth: number): boolean {
  return agent.delegation?.canDelegate ?? depth === 0;
}

/** An empty list allows nobody. */
function isAllowedFor({ delegation }: AgentDefinition, name: string): boolean {
  const { allowedAgents, deniedAgents } = delegation ?? {};
  return (allowedAgents?.includes(name) ?? true) && !(deniedAgents?.includes(name) ?? false);
}

/** Of the main agent 0. */
function depthOf({ path }: CallerPlace): number {
  return path.length - 1;
}

/** An agent's own `maxDepth` counts from itself, and holds for those below it as well. */
function limitOf({ caller, agents, maxDepth }: Omit<DelegationOrder, "targetName">): number {
  const own = caller.path.map((name, index) => {
    const agent = name === caller.agent.name ? caller.agent : agents.find(name);
    return index + (agent?.delegation?.maxDepth ?? Number.POSITIVE_INFINITY);
  });
  return Math.min(maxDepth, ...own);
}

function unknown({ targetName, caller, agents, maxDepth }: DelegationOrder): string {
  const names = callableFor(caller, agents, maxDepth).map(({ name }) => name);
  const guess = nearest(targetName, names);
  return `There is no agent "${targetName}".${guess === undefined ? "" : ` Did you mean "${guess}"?`}`;
}

function cycle({ caller, targetName }: DelegationOrder): string {
  if (targetName === caller.agent.name)
    return `"${targetName}" is yourself: that would go round in a circle.`;
  const path = [...caller.path, targetName].join(" -> ");
  return `"${targetName}" waits for you already (${path}): that would go round in a circle.`;
}

function tooDeep({ caller, maxDepth }: DelegationOrder, limit: number): string {
  const why = limit < maxDepth ? "an agent's own maxDepth" : `delegation.maxDepth (${maxDepth})`;
  return `Delegation ends here, ${depthOf(caller)} below the main agent: ${why} allows no more.`;
}

function instead({ caller, agents, maxDepth }: DelegationOrder): string {
  const names = callableFor(caller, agents, maxDepth).map(({ name }) => name);
  if (names.length === 0) return "There is nobody to delegate to: do the task yourself.";
  return `You can delegate to ${names.join(", ")}, or do the task yourself.`;
}
