// `demian list-agents`, `list-tools` and `list-providers`.

import { relative } from "node:path";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { isCallable } from "../../runtime/agents/registry.ts";
import type { RegistrySource } from "../../runtime/agents/types.ts";
import { createDelegateTool } from "../../runtime/delegation/delegate-tool.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import type { RegisteredTool } from "../../runtime/tools/registry.ts";
import type { Arguments } from "../command.ts";
import { formatTable } from "../output.ts";
import type { DemianContext } from "./command.ts";
import { readOrder } from "./order.ts";
import { formatReadiness } from "./settings.ts";
import { getDefaultMain, listSubAgents } from "./sub-agents.ts";

export function listAgents(given: Arguments, context: DemianContext): Promise<number> {
  const { all: isAll, main: isMain } = given.flags;
  return list(
    given,
    context,
    ["  AGENT", "MODE", "CALLABLE", "PROVIDER", "CATEGORY", "FROM", "DESCRIPTION"],
    ({ agents, config, cwd }) =>
      agents
        .list()
        .filter(({ agent }) => (isAll || !agent.hidden) && !(isMain && agent.mode === "subagent"))
        .map(({ agent, source }) => ({
          name: agent.name,
          ...defined({ displayName: agent.displayName }),
          description: agent.description,
          mode: agent.mode,
          isDefault: agent.name === config.defaultAgent,
          isCallable: isCallable(agent),
          isHidden: agent.hidden === true,
          ...defined({
            provider: agent.provider?.profile,
            category: agent.catalog?.category,
            cost: agent.catalog?.cost,
            delegation: agent.delegation,
          }),
          tools: agent.tools.visible,
          source: toSource(source),
          cells: [
            `${agent.name === config.defaultAgent ? "*" : " "} ${agent.name}`,
            agent.mode,
            agent.hidden ? "hidden" : isCallable(agent) ? "yes" : "-",
            agent.provider?.profile ?? "-",
            [agent.catalog?.category, agent.catalog?.cost].filter(Boolean).join("/") || "-",
            formatSource(source, cwd),
            agent.description,
          ],
        })),
  );
}

export function listTools(given: Arguments, context: DemianContext): Promise<number> {
  return list(given, context, ["TOOL", "EFFECT", "DEFAULT", "FROM", "DESCRIPTION"], (runtime) =>
    listAllTools(runtime).map(({ tool, source }) => ({
      name: tool.name,
      description: tool.description,
      sideEffect: tool.metadata.sideEffect,
      ...defined({ defaultDecision: tool.metadata.defaultDecision }),
      source: toSource(source),
      inputSchema: tool.inputSchema,
      cells: [
        tool.name,
        tool.metadata.sideEffect,
        tool.metadata.defaultDecision ?? "-",
        formatSource(source, runtime.cwd),
        firstSentence(tool.description),
      ],
    })),
  );
}

/** In multi-agent mode, adds `delegate_agent` as the default agent sees it; it differs per agent and is in no registry. */
function listAllTools(runtime: Runtime): RegisteredTool[] {
  const { tools, config } = runtime;
  if (config.agentMode !== "multi-agent") return tools.list();
  const callable = listSubAgents(runtime, getDefaultMain(runtime));
  if (callable.length === 0) return tools.list();
  const tool = createDelegateTool(callable);
  return [...tools.list(), { tool, source: { scope: "builtin", trusted: true } }];
}

export function listProviders(given: Arguments, context: DemianContext): Promise<number> {
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
        ...defined({ problem }),
        cells: [
          `${isDefault ? "*" : " "} ${formatReadiness(choice)} ${key}`,
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
  { output, isJson, io, createRuntime }: DemianContext,
  head: string[],
  rowsOf: (runtime: Runtime) => readonly Row[],
): Promise<number> {
  const { cwd, configPath, flags } = readOrder(given, io.cwd);
  const runtime = await createRuntime({ cwd, env: io.env, flags, ...defined({ configPath }) });
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
    for (const line of formatTable([head, ...rows.map(({ cells }) => cells)], output.columns)) {
      await output.line(line);
    }
    return 0;
  } finally {
    await runtime.close();
  }
}

function toSource({ scope, path, trusted }: RegistrySource): object {
  return { scope, ...defined({ path }), trusted };
}

function formatSource({ scope, path, trusted }: RegistrySource, cwd: string): string {
  const place = path === undefined ? scope : `${scope}: ${shortenPath(path, cwd)}`;
  return trusted ? place : `${place}, not trusted`;
}

function shortenPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return below === "" || below.startsWith("..") ? path : below;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
