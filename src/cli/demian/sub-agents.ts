// The sub-agents that the main agent may delegate to, as text: at startup, for /agents, lists and the doctor.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { AgentDefinition } from "../../runtime/agents/types.ts";
import { listCallableFor } from "../../runtime/delegation/validate.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { formatUsageLines } from "../program.ts";

export type Known = Pick<Runtime, "agents" | "config" | "providers">;

/** The main agent and its provider. */
export interface Main {
  agent: string;
  provider: string;
}

/** The main agent of a session opened without flags. */
export function getDefaultMain({ agents, config }: Known): Main {
  const agent = config.defaultAgent;
  return { agent, provider: agents.find(agent)?.provider?.profile ?? config.defaultProvider };
}

/** For multi-agent mode. Empty if it cannot delegate. */
export function listSubAgents(runtime: Known, main: Main): AgentDefinition[] {
  const { agents, config } = runtime;
  const agent = agents.find(main.agent);
  if (agent === undefined || hasOwnLoop(runtime, main)) return [];
  return listCallableFor({ agent, path: [agent.name] }, agents, config.delegation.maxDepth);
}

/** `build may delegate to reviewer (gemini-fast), builder` */
export function describeTeam(runtime: Known, main: Main): string {
  const callable = listSubAgents(runtime, main);
  if (callable.length === 0) return `${main.agent} cannot delegate: ${explainAlone(runtime, main)}`;
  const names = callable.map(({ name, provider }) =>
    provider?.profile === undefined ? name : `${name} (${provider.profile})`,
  );
  return `${main.agent} may delegate to ${names.join(", ")}`;
}

export function formatSubAgents(runtime: Known, main: Main): string[] {
  if (runtime.config.agentMode !== "multi-agent") {
    return ["single-agent mode; start demian with --multi-agent to let it delegate"];
  }
  const callable = listSubAgents(runtime, main);
  if (callable.length === 0) return [describeTeam(runtime, main)];
  return formatUsageLines(callable.map((agent) => ({ usage: agent.name, summary: describeAgent(agent) })));
}

function explainAlone(runtime: Known, main: Main): string {
  const { agents, config } = runtime;
  if (hasOwnLoop(runtime, main)) return `${main.provider} has its own tools and cannot call demian's`;
  if (config.delegation.maxDepth === 0) return "delegation.maxDepth is 0";
  const { delegation } = agents.get(main.agent);
  if (delegation?.canDelegate === false) return "its delegation.canDelegate is false";
  if (delegation?.maxDepth === 0) return "its delegation.maxDepth is 0";
  if (agents.listCallable().length > 0) return "it is not allowed to call any of the callable agents";
  return 'no agent has the mode "subagent" or "all"; create one in ~/.demian/agents/NAME.md';
}

/** Claude Code cannot call demian's tools. */
function hasOwnLoop({ providers }: Known, { provider }: Main): boolean {
  return providers.find(({ key }) => key === provider)?.type === "claudecode";
}

function describeAgent({ description, provider, catalog }: AgentDefinition): string {
  const more = [provider?.profile, catalog?.category, catalog?.cost].filter((part) => part !== undefined);
  return sanitizeLine(`${description}${more.length === 0 ? "" : ` (${more.join(", ")})`}`);
}
