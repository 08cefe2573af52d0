// All agents: built-in, from the configuration and files, and from an embedding program.

import { CodedError } from "../../base/coded-error.ts";
import { pickNearest } from "../../base/nearest.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface RegisteredAgent {
  agent: AgentDefinition;
  source: RegistrySource;
}

/** All given conditions must hold. */
export interface AgentListFilter {
  mode?: AgentDefinition["mode"];
  hidden?: boolean;
  callable?: boolean;
  scope?: RegistrySource["scope"];
}

/** Whether other agents may delegate to it at all; delegation/validate.ts decides which. */
export function isCallable({ mode, hidden, delegation }: AgentDefinition): boolean {
  return mode !== "primary" && hidden !== true && delegation?.callable !== false;
}

export class AgentRegistry {
  readonly #agents = new Map<string, RegisteredAgent>();

  /** False: the name is taken and the first agent stays. */
  register(agent: AgentDefinition, source: RegistrySource): boolean {
    if (this.#agents.has(agent.name)) return false;
    this.#agents.set(agent.name, { agent, source });
    return true;
  }

  /** Throws `unknown_agent`, with the known names. */
  get(name: string): AgentDefinition {
    const found = this.find(name);
    if (found !== undefined) return found;
    const names = [...this.#agents.keys()];
    const guess = pickNearest(name, names);
    const hint = guess === undefined ? `known: ${names.join(", ")}` : `did you mean ${guess}?`;
    throw new CodedError("unknown_agent", `there is no agent "${name}"; ${hint}`);
  }

  find(name: string): AgentDefinition | undefined {
    return this.#agents.get(name)?.agent;
  }

  getSource(name: string): RegistrySource | undefined {
    return this.#agents.get(name)?.source;
  }

  list(filter: AgentListFilter = {}): RegisteredAgent[] {
    return [...this.#agents.values()].filter((registered) => matchesFilter(registered, filter));
  }

  /** Agents that talk to the user. */
  listPrimary(): AgentDefinition[] {
    return this.list().flatMap(({ agent }) => (agent.mode === "subagent" || agent.hidden ? [] : [agent]));
  }

  /** Agents that work for other agents. */
  listCallable(): AgentDefinition[] {
    return this.list({ callable: true }).map(({ agent }) => agent);
  }
}

function matchesFilter({ agent, source }: RegisteredAgent, filter: AgentListFilter): boolean {
  const { mode, hidden, callable, scope } = filter;
  return (
    (mode === undefined || agent.mode === mode) &&
    (hidden === undefined || (agent.hidden === true) === hidden) &&
    (callable === undefined || isCallable(agent) === callable) &&
    (scope === undefined || source.scope === scope)
  );
}
