// Agents and tools as they were loaded: what was left out and why, and whether those that work together can.
import type { Runtime } from "../../../runtime/session-types.ts";
import { subAgentsOf, teamLine, usualMain } from "../sub-agents.ts";
import type { Check } from "./check.ts";

type Known = Pick<Runtime, "agents" | "config" | "providers" | "tools" | "warnings">;

/** `told`: what was said about the configuration already. */
export function checkLoaded(runtime: Known, told: readonly string[]): Check[] {
  const lost = runtime.warnings.filter((warning) => !told.includes(warning));
  return [
    ...lost.map((text): Check => ({ name: kindOf(text), status: "warn", text })),
    countCheck("agents", runtime.agents.list()),
    countCheck("tools", runtime.tools.list()),
    ...unreadyAgents(runtime),
    ...checkTeam(runtime),
  ];
}

/** Warnings are sentences for people; most begin with the file that they are about. */
function kindOf(warning: string): string {
  return /^\S*\.demian\/(agents|tools)\b/.exec(warning)?.[1] ?? "loading";
}

function countCheck(name: string, rows: readonly { source: { scope: string } }[]): Check {
  const scopes = [...new Set(rows.map(({ source }) => source.scope))];
  const counts = scopes.map(
    (scope) => `${rows.filter(({ source }) => source.scope === scope).length} ${scope}`,
  );
  return { name, status: "ok", text: counts.join(", ") || "none" };
}

/** An agent that names a provider cannot work without it. */
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
  const main = usualMain(runtime);
  const isAlone = subAgentsOf(runtime, main).length === 0;
  return [{ name: "delegation", status: isAlone ? "warn" : "ok", text: teamLine(runtime, main) }];
}
