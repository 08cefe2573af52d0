// A tool's output as text, and the exit code if the agent writes it there.

import { isObject } from "../../base/json.ts";
import { asString } from "../../base/values.ts";
import { formatJson } from "./values.ts";

/** Tools that run commands, in all agents. */
const COMMANDS: ReadonlySet<string> = new Set([
  "Bash",
  "shell",
  "bash",
  "demo_shell",
  "execute",
  "run_shell_command",
]);
/** Agents write it at the beginning or at the end. */
const AT_BEGINNING = /^(?:Error: )?Exit code (-?\d{1,9})\b/;
const AT_END = /\[(?:no output; )?exit code (-?\d{1,9})(?:: [^\]\n]{1,40})?\](?:\n```)?\s*$/;
/** How far from the end to search. */
const EDGE_CHARS = 400;

export function formatOutput(output: unknown): string {
  if (typeof output === "string") return output;
  if (output === undefined || output === null) return "";
  if (!Array.isArray(output)) return formatJson(output, 2);
  const isBlocks = output.every((block) => isObject(block) && typeof block["type"] === "string");
  return isBlocks ? output.map(blockText).join("\n") : formatJson(output, 2);
}

function blockText(block: unknown): string {
  if (!isObject(block)) return "";
  if (block["type"] === "text") return asString(block["text"]) ?? "";
  const inner = isObject(block["content"]) ? asString(block["content"]["text"]) : undefined;
  return inner ?? asString(block["text"]) ?? `[${asString(block["type"]) ?? "block"}]`;
}

/** Only for tools that run commands: others may print the same text from a file. */
export function findExitCode(name: string, output: string, hasFailed: boolean): number | undefined {
  if (!COMMANDS.has(name)) return undefined;
  const [, last] = AT_END.exec(output.slice(-EDGE_CHARS)) ?? [];
  // A success has exit code 0, whatever it printed.
  if (!hasFailed) return last === "0" ? 0 : undefined;
  const code = AT_BEGINNING.exec(output)?.[1] ?? last;
  return code === undefined ? undefined : Number(code);
}
