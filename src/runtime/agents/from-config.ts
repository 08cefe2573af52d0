// Turns agents of the configuration and of files into definitions, once their tools and providers are known. A faulty
// one is skipped and reported; the others work.

import { CodedError, toMessage } from "../../base/coded-error.ts";
import { pickNearest } from "../../base/nearest.ts";
import { defined } from "../../base/values.ts";
import { limitWarnings } from "../config/fewer.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { AgentConfig, DemianConfig } from "../config/schema.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { MCP_PREFIX } from "../mcp/names.ts";
import { findUnknownTools } from "../permissions/unknown-tools.ts";
import { SKILL_TOOL } from "../tools/skill.ts";
import { BUILTIN_AGENTS } from "./builtin.ts";
import type { FileAgent } from "./files.ts";
import { AgentRegistry } from "./registry.ts";
import type { AgentDefinition, RegistrySource } from "./types.ts";

export interface AgentRegistryOrder {
  config: Pick<DemianConfig, "agents" | "providers">;
  /** Where each comes from (config/load.ts). */
  sources: ReadonlyMap<string, RegistrySource>;
  /** Agents from files (config/contributions.ts). */
  files?: readonly FileAgent[];
  /** The registered tools. */
  toolNames: readonly string[];
  /** Providers of the embedding program, besides the configured ones. */
  providerKeys?: readonly string[];
  /** Without the built-in ones. */
  isAlone?: boolean;
}

export function createAgentRegistry(order: AgentRegistryOrder): {
  agents: AgentRegistry;
  warnings: string[];
} {
  const agents = new AgentRegistry();
  const warnings: string[] = [];
  for (const agent of order.isAlone === true ? [] : BUILTIN_AGENTS)
    agents.register(agent, { scope: "builtin", trusted: true });
  for (const candidate of listCandidates(order)) {
    const { name, config, source } = candidate;
    // `Build` would be mistaken for `build`, and is the same file on many file systems.
    const holder = agents.list().find(({ agent }) => agent.name.toLowerCase() === name.toLowerCase())?.source;
    const fault =
      holder === undefined ? findFault(candidate, order) : { why: explainTaken(holder), at: ["name"] };
    if (fault === undefined) agents.register(agentFromConfig(name, config), source);
    else warnings.push(`${formatPlace(candidate, fault.at)}: the agent "${name}" is ignored: ${fault.why}`);
    if (fault === undefined && candidate.lineOf !== undefined)
      warnings.push(
        ...limitWarnings(
          findUnknownTools(config.permissions, order.toolNames, `${source.path}: permissions`),
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

/** The first of a name wins: the user's configuration, the user's files, then the project. */
function listCandidates({ config, sources, files = [] }: AgentRegistryOrder): Candidate[] {
  const configured = Object.entries(config.agents).map(([name, agent]): Candidate => {
    return { name, config: agent, source: sources.get(name) ?? { scope: "user", trusted: true } };
  });
  const all: Candidate[] = [...configured, ...files];
  const isProject = ({ source }: Candidate) => source.scope === "project";
  return [...all.filter((one) => !isProject(one)), ...all.filter(isProject)];
}

function explainTaken({ scope, path = "the configuration" }: RegistrySource): string {
  if (scope === "builtin") return "the name belongs to a built-in agent; choose another one";
  return `the name belongs to the agent of ${path}; rename one of them`;
}

function formatPlace({ source: { path = "config" }, lineOf }: Candidate, at: readonly PropertyKey[]): string {
  return lineOf === undefined ? path : `${path}:${lineOf(at)}`;
}

/** A project's invalid default agent is reported; the default without the project applies. */
export function settleDefaultAgent(
  { config, projectAgent }: Pick<LoadedConfig, "config" | "projectAgent">,
  agents: AgentRegistry,
): { config: DemianConfig; warnings: string[] } {
  if (projectAgent === undefined) return { config, warnings: [] };
  try {
    findMainAgent(agents, config.defaultAgent);
    return { config, warnings: [] };
  } catch (error) {
    const { path, instead } = projectAgent;
    const warning = `${path}: "defaultAgent" is ignored: ${toMessage(error)}. New sessions use the agent "${instead}"`;
    return { config: { ...config, defaultAgent: instead }, warnings: [warning] };
  }
}

/** For a session with the user. Throws `unknown_agent`. */
export function findMainAgent(agents: AgentRegistry, name: string): AgentDefinition {
  const agent = agents.get(name);
  if (agent.mode !== "subagent") return agent;
  const names = agents.listPrimary().map((primary) => primary.name);
  throw new CodedError(
    "unknown_agent",
    `the agent "${name}" only works for other agents; choose one of ${names.join(", ")}`,
  );
}

function agentFromConfig(name: string, config: AgentConfig): AgentDefinition {
  const { authority, tools, permissions, defaultDecision, name: _, ...rest } = config;
  const allowed = authority?.tools?.map(stripPrefix);
  const decision = authority?.defaultDecision ?? defaultDecision;
  const agent: Record<string, unknown> = {
    ...rest,
    name,
    tools: { visible: tools.visible.map(stripPrefix).filter((tool) => allowed?.includes(tool) ?? true) },
    permissions: [...(authority?.permissions ?? []), ...permissions],
    ...defined({ defaultDecision: decision }),
  };
  return agent as unknown as AgentDefinition;
}

interface Fault {
  why: string;
  /** Field of the agent. */
  at: readonly PropertyKey[];
}

function findFault({ name, config }: Candidate, order: AgentRegistryOrder): Fault | undefined {
  if (config.name !== undefined && config.name !== name)
    return { why: `its "name" is "${config.name}"; make it "${name}" or remove it`, at: ["name"] };
  const visible = config.tools.visible.map(stripPrefix);
  const lost = visible.findIndex((tool) => !order.toolNames.includes(tool) && !isKnownLater(tool));
  const tool = visible[lost];
  if (tool !== undefined)
    return {
      why: `there is no tool "${tool}"${formatGuess(tool, order.toolNames)}`,
      at: ["tools", "visible", lost],
    };
  const profile = config.provider?.profile;
  const keys = [...Object.keys(order.config.providers), ...(order.providerKeys ?? [])];
  if (profile !== undefined && !keys.includes(profile))
    return {
      why: `there is no provider "${profile}"${formatGuess(profile, keys)}`,
      at: ["provider", "profile"],
    };
  return undefined;
}

/** Tools that exist only in some sessions. What a server offers is known when it is connected. */
function isKnownLater(tool: string): boolean {
  return tool === DELEGATE_TOOL || tool === SKILL_TOOL || tool.startsWith(MCP_PREFIX);
}

function formatGuess(word: string, known: readonly string[]): string {
  const near = pickNearest(word, known);
  return near === undefined ? `; known: ${known.join(", ")}` : `; did you mean "${near}"?`;
}

/** `demian.bash` is `bash`. */
function stripPrefix(tool: string): string {
  return tool.replace(/^demian\./, "");
}
