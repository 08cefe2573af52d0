// `demian list-agents`, `list-tools` and `list-providers`: what the configuration of a workspace makes available.
import { relative } from "node:path";
import { sanitizeLine } from "../../base/sanitize.ts";
import { isCallable } from "../../runtime/agents/registry.ts";
import type { RegistrySource } from "../../runtime/agents/types.ts";
import { createDelegateTool } from "../../runtime/delegation/delegate-tool.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import type { RegisteredTool } from "../../runtime/tools/registry.ts";
import type { Arguments } from "../command.ts";
import { table } from "../output.ts";
import type { Context } from "./command.ts";
import { orderOf } from "./order.ts";
import { markOf } from "./settings.ts";
import { subAgentsOf, usualMain } from "./sub-agents.ts";

export function listAgents(given: Arguments, context: Context): Promise<number> {
  const { all: isAll, main: isMain } = given.flags;
  return list(
    given,
    context,
    ["  AGENT", "MODE", "CALLABLE", "PROVIDER", "CATEGORY", "FROM", "WHAT IT IS"],
    ({ agents, config, cwd }) =>
      agents
        .list()
        .filter(({ agent }) => (isAll || !agent.hidden) && !(isMain && agent.mode === "subagent"))
        .map(({ agent, source }) => ({
          name: agent.name,
          ...optional("displayName", agent.displayName),
          description: agent.description,
          mode: agent.mode,
          isDefault: agent.name === config.defaultAgent,
          isCallable: isCallable(agent),
          isHidden: agent.hidden === true,
          ...optional("provider", agent.provider?.profile),
          ...optional("category", agent.catalog?.category),
          ...optional("cost", agent.catalog?.cost),
          ...optional("delegation", agent.delegation),
          tools: agent.tools.visible,
          source: sourceOf(source),
          cells: [
            `${agent.name === config.defaultAgent ? "*" : " "} ${agent.name}`,
            agent.mode,
            agent.hidden ? "hidden" : isCallable(agent) ? "yes" : "-",
            agent.provider?.profile ?? "-",
            [agent.catalog?.category, agent.catalog?.cost].filter(Boolean).join("/") || "-",
            sourceText(source, cwd),
            agent.description,
          ],
        })),
  );
}

export function listTools(given: Arguments, context: Context): Promise<number> {
  return list(given, context, ["TOOL", "TOUCHES", "DEFAULT", "FROM", "WHAT IT DOES"], (runtime) =>
    toolsOf(runtime).map(({ tool, source }) => ({
      name: tool.name,
      description: tool.description,
      sideEffect: tool.metadata.sideEffect,
      ...optional("defaultDecision", tool.metadata.defaultDecision),
      source: sourceOf(source),
      inputSchema: tool.inputSchema,
      cells: [
        tool.name,
        tool.metadata.sideEffect,
        tool.metadata.defaultDecision ?? "-",
        sourceText(source, runtime.cwd),
        firstSentence(tool.description),
      ],
    })),
  );
}

/** With several agents the default one may delegate: a tool that no registry has, because each agent sees its own. */
function toolsOf(runtime: Runtime): RegisteredTool[] {
  const { tools, config } = runtime;
  if (config.agentMode !== "multi-agent") return tools.list();
  const callable = subAgentsOf(runtime, usualMain(runtime));
  if (callable.length === 0) return tools.list();
  const tool = createDelegateTool(callable);
  return [...tools.list(), { tool, source: { scope: "builtin", trusted: true } }];
}

export function listProviders(given: Arguments, context: Context): Promise<number> {
  return list(given, context, ["    PROVIDER", "TYPE", "MODEL", "STATE"], ({ providers, config }) =>
    providers.map((choice) => {
      const { key, type, model, isReady, problem } = choice;
      const isDefault = key === config.defaultProvider;
      return {
        name: key,
        type,
        model,
        isReady,
        isDefault,
        ...optional("problem", problem),
        cells: [
          `${isDefault ? "*" : " "} ${markOf(choice)} ${key}`,
          type,
          model || "-",
          isReady ? "ready" : (problem ?? "not ready"),
        ],
      };
    }),
  );
}

interface Row {
  name: string;
  cells: string[];
}

async function list(
  given: Arguments,
  { output, isJson, io, createRuntime }: Context,
  head: string[],
  rowsOf: (runtime: Runtime) => readonly Row[],
): Promise<number> {
  const { cwd, configPath, flags } = orderOf(given, io.cwd);
  const runtime = await createRuntime({ cwd, env: io.env, flags, ...optional("configPath", configPath) });
  try {
    const rows = rowsOf(runtime);
    if (given.flags["names"]) {
      for (const { name } of rows) await output.line(name);
      return 0;
    }
    if (isJson) {
      const documents = rows.map(({ cells: _cells, ...document }) => document);
      await output.json(documents);
      return 0;
    }
    for (const warning of runtime.warnings) output.note(`! ${sanitizeLine(warning)}`);
    for (const line of table([head, ...rows.map(({ cells }) => cells)], output.columns)) {
      await output.line(line);
    }
    return 0;
  } finally {
    await runtime.close();
  }
}

function sourceOf({ scope, path, trusted }: RegistrySource): object {
  return { scope, ...optional("path", path), trusted };
}

/** Where it stands, as short as it is clear. */
function sourceText({ scope, path, trusted }: RegistrySource, cwd: string): string {
  const place = path === undefined ? scope : `${scope}: ${shortPath(path, cwd)}`;
  return trusted ? place : `${place}, not trusted`;
}

function shortPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return below === "" || below.startsWith("..") ? path : below;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function optional<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
