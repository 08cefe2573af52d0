// Agents and callers for the tests of delegation.
import { AgentRegistry } from "../../../src/runtime/agents/registry.ts";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import type { Caller } from "../../../src/runtime/delegation/types.ts";
import type { ResolvedProvider } from "../../../src/runtime/providers/types.ts";

export const provider: ResolvedProvider = {
  key: "near",
  type: "scripted",
  model: "m",
  provider: { id: "scripted", chat: () => Promise.reject(new Error("nobody is asked here")) },
};

export function agent(name: string, more: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    name,
    description: `Does ${name} things.`,
    mode: "subagent",
    prompt: { system: `You are ${name}.` },
    tools: { visible: [] },
    permissions: [],
    ...more,
  };
}

export function registry(...agents: AgentDefinition[]): AgentRegistry {
  const made = new AgentRegistry();
  for (const one of agents) made.register(one, { scope: "user", trusted: true });
  return made;
}

/** `path`: from the main agent down to the caller. */
export function caller(agents: AgentRegistry, ...path: string[]): Caller {
  return { invocationId: "main", agent: agents.get(path.at(-1) ?? ""), provider, path };
}
