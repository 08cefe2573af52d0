// Rules for tools that do not exist: they fit nothing, and a denial that fits nothing is a hole that nobody sees.
import { nearest } from "../../base/nearest.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { PermissionRule } from "./types.ts";

/** Tools of others (`claudecode.Bash`, `*.Bash`) are not ours to judge: theirs begin with a capital letter. */
const FOREIGN = /^((?!demian\.)[A-Za-z]+\.|\*\.[A-Z])/;

/** For people. `where`: whose rules they are. */
export function unknownTools(
  rules: readonly PermissionRule[],
  toolNames: readonly string[],
  where: string,
): string[] {
  // It is there or not by the mode: a rule about it means something all the same.
  const known = [...toolNames, DELEGATE_TOOL];
  const names = new Set(rules.map(({ tool }) => tool).filter((tool) => !FOREIGN.test(tool)));
  return [...names].flatMap((given) => {
    const name = given.replace(/^(demian|\*)\./, "");
    if (name === "*" || known.includes(name)) return [];
    const guess = known.find((tool) => tool === name.toLowerCase()) ?? nearest(name, known);
    const hint = guess === undefined ? `there are ${toolNames.join(", ")}` : `did you mean "${guess}"?`;
    const other = /^[A-Z]/.test(name) ? ` Of Claude Code it would be "claudecode.${name}".` : "";
    return [`${where}: a rule for "${given}" fits nothing, because there is no such tool; ${hint}${other}`];
  });
}
