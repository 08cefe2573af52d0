// Rules for tools that do not exist: they fit nothing, and a denial that fits nothing is a hole that nobody sees.
import { nearest } from "../../base/nearest.ts";
import type { PermissionRule } from "./types.ts";

/** Tools of others (`claudecode.Bash`) are not ours to judge. */
const FOREIGN = /^(?!demian\.)[a-z]+\./i;
/** Named in rules, although it comes only with sub-agents. */
export const LATER_TOOLS: readonly string[] = ["delegate_agent"];

/** For people. `where`: whose rules they are. */
export function unknownTools(
  rules: readonly PermissionRule[],
  toolNames: readonly string[],
  where: string,
): string[] {
  const known = [...toolNames, ...LATER_TOOLS];
  const names = new Set(rules.map(({ tool }) => tool).filter((tool) => !FOREIGN.test(tool)));
  return [...names].flatMap((given) => {
    const name = given.replace(/^(demian|\*)\./, "");
    if (name === "*" || known.includes(name)) return [];
    const guess = known.find((tool) => tool === name.toLowerCase()) ?? nearest(name, known);
    const hint = guess === undefined ? `there are ${toolNames.join(", ")}` : `did you mean "${guess}"?`;
    return [`${where}: a rule for "${given}" fits nothing, because there is no such tool; ${hint}`];
  });
}
