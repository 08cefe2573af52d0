// Checks the loaded agents and tools: what was skipped and why, and whether delegation is possible.
import type { Runtime } from "../../../runtime/session-types.ts";
import type { Check } from "../../checks.ts";
import { describeTeam, getDefaultMain, listSubAgents } from "../sub-agents.ts";

type Known = Pick<Runtime, "agents" | "config" | "providers" | "tools" | "warnings">;

/** `reported`: warnings that other checks have reported already. */
export function checkLoaded(runtime: Known, reported: readonly string[]): Check[] {
  const warnings = runtime.warnings.filter((warning) => !reported.includes(warning));
  return [
    ...warnings.map((text): Check => ({ name: readKind(text), status: "warn", text })),
    countCheck("agents", runtime.agents.list()),
    countCheck("tools", runtime.tools.list()),
    ...unreadyAgents(runtime),
    ...checkTeam(runtime),
  ];
}

/** Most warnings start with the file they are about. */
function readKind(warning: string): string {
  return /^\S*\.demian\/(agents|tools)\b/.exec(warning)?.[1] ?? "loading";
}

function countCheck(name: string, rows: readonly { source: { scope: string } }[]): Check {
  const scopes = [...new Set(rows.map(({ source }) => source.scope))];
  const counts = scopes.map(
    (scope) => `${rows.filter(({ source }) => source.scope === scope).length} ${scope}`,
  );
  return { name, status: "ok", text: counts.join(", ") || "none" };
}

/** Agents whose provider is not ready. */
function unreadyAgents({ agents, providers }: Known): Check[] {
  return agents.list().flatMap(({ agent }): Check[] => {
    const key = agent.provider?.profile;
    const choice = key === undefined ? undefined : providers.find((row) => row.key === key);
    if (choice === undefined || choice.isReady) return [];
    const text = `${agent.name} uses the provider ${choice.key}, which is not ready: ${choice.problem ?? "its key is missing"}`;
    return [{ name: "agents", status: "warn", text }];
  });
}

function checkTeam(runtime: Known): Check[] {
  if (runtime.config.agentMode !== "multi-agent") return [];
  const main = getDefaultMain(runtime);
  const isAlone = listSubAgents(runtime, main).length === 0;
  return [{ name: "delegation", status: isAlone ? "warn" : "ok", text: describeTeam(runtime, main) }];
}
