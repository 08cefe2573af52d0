// Whom the main agent may give work to, for people: at the start, with /agents, in lists and for the doctor.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { AgentDefinition } from "../../runtime/agents/types.ts";
import { callableFor } from "../../runtime/delegation/validate.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { usageLines } from "../help-lines.ts";

export type Known = Pick<Runtime, "agents" | "config" | "providers">;

/** The main agent, and the provider that it thinks with. */
export interface Main {
  agent: string;
  provider: string;
}

/** Of a session that is opened without flags. */
export function usualMain({ agents, config }: Known): Main {
  const agent = config.defaultAgent;
  return { agent, provider: agents.find(agent)?.provider?.profile ?? config.defaultProvider };
}

/** In multi-agent mode. Empty: it works alone. */
export function subAgentsOf(runtime: Known, main: Main): AgentDefinition[] {
  const { agents, config } = runtime;
  const agent = agents.find(main.agent);
  if (agent === undefined || hasOwnLoop(runtime, main)) return [];
  return callableFor({ agent, path: [agent.name] }, agents, config.delegation.maxDepth);
}

/** `build may delegate to reviewer (gemini-fast), builder` */
export function teamLine(runtime: Known, main: Main): string {
  const callable = subAgentsOf(runtime, main);
  if (callable.length === 0) return `${main.agent} works alone: ${whyAlone(runtime, main)}`;
  const names = callable.map(({ name, provider }) =>
    provider?.profile === undefined ? name : `${name} (${provider.profile})`,
  );
  return `${main.agent} may delegate to ${names.join(", ")}`;
}

export function subAgentLines(runtime: Known, main: Main): string[] {
  if (runtime.config.agentMode !== "multi-agent") {
    return ["there is one agent; with --multi-agent it may give work to others"];
  }
  const callable = subAgentsOf(runtime, main);
  if (callable.length === 0) return [teamLine(runtime, main)];
  return usageLines(callable.map((agent) => ({ usage: agent.name, summary: aboutText(agent) })));
}

function whyAlone(runtime: Known, main: Main): string {
  const { agents, config } = runtime;
  if (hasOwnLoop(runtime, main)) return `${main.provider} brings tools of its own and cannot call ours`;
  if (config.delegation.maxDepth === 0) return "delegation.maxDepth is 0";
  const { delegation } = agents.get(main.agent);
  if (delegation?.canDelegate === false) return "its delegation.canDelegate is false";
  if (delegation?.maxDepth === 0) return "its delegation.maxDepth is 0";
  if (agents.callable().length > 0) return "it may call none of those that can be called";
  return 'there is no agent of mode "subagent" or "all" to call; ~/.demian/agents/NAME.md would be one';
}

/** Claude Code does not know our tools. */
function hasOwnLoop({ providers }: Known, { provider }: Main): boolean {
  return providers.find(({ key }) => key === provider)?.type === "claudecode";
}

function aboutText({ description, provider, catalog }: AgentDefinition): string {
  const more = [provider?.profile, catalog?.category, catalog?.cost].filter((part) => part !== undefined);
  return sanitizeLine(`${description}${more.length === 0 ? "" : ` (${more.join(", ")})`}`);
}
