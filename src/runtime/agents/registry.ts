// The agents that exist: the built-in ones, those of the configuration and of files, and those of an embedding program.
import { CodedError } from "../../base/coded-error.ts";
import { nearest } from "../../base/nearest.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface RegisteredAgent {
  agent: AgentDefinition;
  source: RegistrySource;
}

/** Each that is given must hold. */
export interface AgentListFilter {
  mode?: AgentDefinition["mode"];
  hidden?: boolean;
  callable?: boolean;
  scope?: RegistrySource["scope"];
}

/** What may be told of an agent to others: nothing of its prompt or its rules. */
export interface AgentCatalogEntry {
  name: string;
  displayName?: string;
  description: string;
  category?: string;
  cost?: string;
  useWhen: readonly string[];
  avoidWhen: readonly string[];
  source: RegistrySource;
}

/** Whether others may delegate to it at all; who may is for delegation/validate.ts. */
export function isCallable({ mode, hidden, delegation }: AgentDefinition): boolean {
  return mode !== "primary" && hidden !== true && delegation?.callable !== false;
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
    const found = this.find(name);
    if (found !== undefined) return found;
    const names = [...this.#agents.keys()];
    const guess = nearest(name, names);
    const hint = guess === undefined ? `there are: ${names.join(", ")}` : `did you mean ${guess}?`;
    throw new CodedError("unknown_agent", `no agent is called "${name}"; ${hint}`);
  }

  find(name: string): AgentDefinition | undefined {
    return this.#agents.get(name)?.agent;
  }

  sourceOf(name: string): RegistrySource | undefined {
    return this.#agents.get(name)?.source;
  }

  list(filter: AgentListFilter = {}): RegisteredAgent[] {
    return [...this.#agents.values()].filter((registered) => fits(registered, filter));
  }

  /** Those that talk to the user. */
  primary(): AgentDefinition[] {
    return this.list().flatMap(({ agent }) => (agent.mode === "subagent" || agent.hidden ? [] : [agent]));
  }

  /** Those that work for other agents. */
  callable(): AgentDefinition[] {
    return this.list({ callable: true }).map(({ agent }) => agent);
  }

  catalog(): AgentCatalogEntry[] {
    return this.list({ callable: true }).map(({ agent, source }) => {
      const { name, displayName, description, catalog } = agent;
      return {
        name,
        ...(displayName === undefined ? {} : { displayName }),
        description,
        ...(catalog?.category === undefined ? {} : { category: catalog.category }),
        ...(catalog?.cost === undefined ? {} : { cost: catalog.cost }),
        useWhen: catalog?.useWhen ?? [],
        avoidWhen: catalog?.avoidWhen ?? [],
        source,
      };
    });
  }
}

function fits({ agent, source }: RegisteredAgent, filter: AgentListFilter): boolean {
  const { mode, hidden, callable, scope } = filter;
  return (
    (mode === undefined || agent.mode === mode) &&
    (hidden === undefined || (agent.hidden === true) === hidden) &&
    (callable === undefined || isCallable(agent) === callable) &&
    (scope === undefined || source.scope === scope)
  );
}
