// Agents of the configuration and of files become definitions, once what they name exists (§12, loader validation). One that
// is wrong is left out and told; the others work.
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { nearest } from "../../base/nearest.ts";
import { fewer } from "../config/fewer.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { AgentConfig, DemianConfig } from "../config/schema.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { unknownTools } from "../permissions/unknown-tools.ts";
import { BUILTIN_AGENTS } from "./builtin.ts";
import type { FileAgent } from "./files.ts";
import { AgentRegistry } from "./registry.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface AgentsOrder {
  config: Pick<DemianConfig, "agents" | "providers">;
  /** Where each of them comes from (config/load.ts). */
  sources: ReadonlyMap<string, RegistrySource>;
  /** Agents from files (config/contributions.ts). */
  files?: readonly FileAgent[];
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
  for (const candidate of candidatesOf(order)) {
    const { name, config, source } = candidate;
    // `Build` would be taken for `build`, and in many file systems is.
    const holder = agents.list().find(({ agent }) => agent.name.toLowerCase() === name.toLowerCase())?.source;
    const fault = holder === undefined ? findFault(candidate, order) : { why: takenBy(holder), at: ["name"] };
    if (fault === undefined) agents.register(agentFromConfig(name, config), source);
    else warnings.push(`${placeOf(candidate, fault.at)}: the agent "${name}" is left out: ${fault.why}`);
    if (fault === undefined && candidate.lineOf !== undefined)
      warnings.push(
        ...fewer(
          unknownTools(config.permissions, order.toolNames, `${source.path}: permissions`),
          source.path ?? name,
        ),
      );
  }
  return { agents, warnings };
}

interface Candidate {
  name: string;
  config: AgentConfig;
  source: RegistrySource;
  /** Only in a file of its own. */
  lineOf?: FileAgent["lineOf"];
}

/** The first of a name stays: what the user configured, the user's files, then what came with the project. */
function candidatesOf({ config, sources, files = [] }: AgentsOrder): Candidate[] {
  const configured = Object.entries(config.agents).map(([name, agent]): Candidate => {
    return { name, config: agent, source: sources.get(name) ?? { scope: "user", trusted: true } };
  });
  const all: Candidate[] = [...configured, ...files];
  const isProject = ({ source }: Candidate) => source.scope === "project";
  return [...all.filter((one) => !isProject(one)), ...all.filter(isProject)];
}

function takenBy({ scope, path = "the configuration" }: RegistrySource): string {
  if (scope === "builtin") return "that name belongs to a built-in agent; choose another one";
  return `that name belongs to the agent of ${path}; rename one of them`;
}

function placeOf({ source: { path = "config" }, lineOf }: Candidate, at: readonly PropertyKey[]): string {
  return lineOf === undefined ? path : `${path}:${lineOf(at)}`;
}

/** What a project chose for new sessions and what cannot be is told; then it is as it would be without the project. */
export function settleDefaultAgent(
  { config, projectAgent }: Pick<LoadedConfig, "config" | "projectAgent">,
  agents: AgentRegistry,
): { config: DemianConfig; warnings: string[] } {
  if (projectAgent === undefined) return { config, warnings: [] };
  try {
    mainAgent(agents, config.defaultAgent);
    return { config, warnings: [] };
  } catch (error) {
    const { path, instead } = projectAgent;
    const warning = `${path}: "defaultAgent" is ignored: ${messageOf(error)}. New sessions have the agent "${instead}"`;
    return { config: { ...config, defaultAgent: instead }, warnings: [warning] };
  }
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

interface Fault {
  why: string;
  /** Where in the agent. */
  at: readonly PropertyKey[];
}

function findFault({ name, config }: Candidate, order: AgentsOrder): Fault | undefined {
  if (config.name !== undefined && config.name !== name)
    return { why: `its "name" is "${config.name}"; make it "${name}" or remove it`, at: ["name"] };
  const visible = config.tools.visible.map(bare);
  const lost = visible.findIndex((tool) => !order.toolNames.includes(tool) && tool !== DELEGATE_TOOL);
  const tool = visible[lost];
  if (tool !== undefined)
    return {
      why: `there is no tool "${tool}"${guess(tool, order.toolNames)}`,
      at: ["tools", "visible", lost],
    };
  const profile = config.provider?.profile;
  const keys = [...Object.keys(order.config.providers), ...(order.providerKeys ?? [])];
  if (profile !== undefined && !keys.includes(profile))
    return { why: `there is no provider "${profile}"${guess(profile, keys)}`, at: ["provider", "profile"] };
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
