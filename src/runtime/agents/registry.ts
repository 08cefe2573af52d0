// The agents that exist: the built-in ones, the configured ones, and those of an embedding program.
import { CodedError } from "../../base/coded-error.ts";
import { nearest } from "../../base/nearest.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface RegisteredAgent {
  agent: AgentDefinition;
  source: RegistrySource;
}

export class AgentRegistry {
  readonly #agents = new Map<string, RegisteredAgent>();

  /** False: the name is taken and the first one stays. */
  register(agent: AgentDefinition, source: RegistrySource): boolean {
    if (this.#agents.has(agent.name)) return false;
    this.#agents.set(agent.name, { agent, source });
    return true;
  }

  /** Throws `unknown_agent`, with the names that there are. */
  get(name: string): AgentDefinition {
    const found = this.#agents.get(name);
    if (found !== undefined) return found.agent;
    const names = [...this.#agents.keys()];
    const guess = nearest(name, names);
    const hint = guess === undefined ? `there are: ${names.join(", ")}` : `did you mean ${guess}?`;
    throw new CodedError("unknown_agent", `no agent is called "${name}"; ${hint}`);
  }

  list(): RegisteredAgent[] {
    return [...this.#agents.values()];
  }

  /** Those that talk to the user. */
  primary(): AgentDefinition[] {
    return this.list().flatMap(({ agent }) => (agent.mode === "subagent" || agent.hidden ? [] : [agent]));
  }
}
