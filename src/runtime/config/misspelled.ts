// Reports settings that refer to nothing, before they matter.
import { pickNearest } from "../../base/nearest.ts";
import { findUnknownTools } from "../permissions/unknown-tools.ts";
import { limitWarnings } from "./fewer.ts";
import type { DemianConfig } from "./schema.ts";

/** Returns messages for users. */
export function findMisspelledNames(
  { permissions, agents, defaultProvider }: DemianConfig,
  known: { tools: readonly string[]; providers: readonly string[] },
): string[] {
  const find = (rules: DemianConfig["permissions"], where: string, owner: string) =>
    limitWarnings(findUnknownTools(rules, known.tools, where), owner);
  const guess = pickNearest(defaultProvider, known.providers);
  const hint = guess === undefined ? "" : `; did you mean "${guess}"?`;
  return [
    ...find(permissions, "permissions", "permissions"),
    ...Object.entries(agents).flatMap(([name, agent]) =>
      find(agent.permissions, `agents.${name}.permissions`, `agents.${name}`),
    ),
    ...(known.providers.includes(defaultProvider)
      ? []
      : [`defaultProvider: there is no provider "${defaultProvider}"${hint}`]),
  ];
}
