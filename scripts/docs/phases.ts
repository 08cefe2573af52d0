// The phases of a session as a picture and a table in docs/flows.md, from the table that the reducer follows.
import { PHASES } from "../../src/sessions/core/phases.ts";
import { table } from "./markdown.ts";

/** By marker: the text between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. */
export function phaseTables(): Map<string, string> {
  const steps = Object.entries(PHASES).flatMap(([name, { next }]) => next.map((to) => `  ${name} --> ${to}`));
  const picture = ["```mermaid", "stateDiagram-v2", "  [*] --> cold", ...steps, "  closed --> [*]", "```"];
  const rows = Object.entries(PHASES).map(([name, { means, next }]) => [
    `\`${name}\``,
    means,
    next.map((to) => `\`${to}\``).join(" ") || "-",
  ]);
  return new Map([
    ["phases", `${picture.join("\n")}\n\n${table(["phase", "means", "may be followed by"], rows)}`],
  ]);
}
