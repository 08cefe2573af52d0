// Finds rules for tools that do not exist. They match nothing, and a denial that matches nothing is a hidden hole.
import { pickNearest } from "../../base/nearest.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { MCP_PREFIX } from "../mcp/names.ts";
import type { PermissionRule } from "./types.ts";

/** Tools of other executors (`claudecode.Bash`, `*.Bash`), which start with a capital letter, are not checked. */
const FOREIGN = /^((?!demian\.)[A-Za-z]+\.|\*\.[A-Z])/;

/** Returns messages for users. `where` names the source of the rules. */
export function findUnknownTools(
  rules: readonly PermissionRule[],
  toolNames: readonly string[],
  where: string,
): string[] {
  // The delegate tool exists only in multi-agent mode, but a rule for it is always valid.
  const known = [...toolNames, DELEGATE_TOOL];
  const names = new Set(rules.map(({ tool }) => tool).filter((tool) => !FOREIGN.test(tool)));
  return [...names].flatMap((given) => {
    const name = given.replace(/^(demian|\*)\./, "");
    // What a server offers is known only later.
    if (name === "*" || known.includes(name) || name.startsWith(MCP_PREFIX)) return [];
    const guess = known.find((tool) => tool === name.toLowerCase()) ?? pickNearest(name, known);
    const hint = guess === undefined ? `known tools: ${toolNames.join(", ")}` : `did you mean "${guess}"?`;
    const other = /^[A-Z]/.test(name) ? ` Claude Code's tool is "claudecode.${name}".` : "";
    return [`${where}: the rule for "${given}" matches no tool; ${hint}${other}`];
  });
}
