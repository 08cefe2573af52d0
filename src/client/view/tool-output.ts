// What a tool gave back, as text; and the exit code in it, where an agent writes one there.
import { isObject } from "../../base/json.ts";
import { jsonText, stringOf } from "./values.ts";

/** The tools that run commands, by the names the agents give them. */
const COMMANDS: ReadonlySet<string> = new Set([
  "Bash",
  "shell",
  "bash",
  "demo_shell",
  "execute",
  "run_shell_command",
]);
/** Some agents write it at the beginning, some at the end. */
const AT_BEGINNING = /^(?:Error: )?Exit code (-?\d{1,9})\b/;
const AT_END = /\[(?:no output; )?exit code (-?\d{1,9})(?:: [^\]\n]{1,40})?\](?:\n```)?\s*$/;
/** The end is looked for in so much of an output. */
const EDGE_CHARS = 400;

export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  if (output === undefined || output === null) return "";
  if (!Array.isArray(output)) return jsonText(output, 2);
  const isBlocks = output.every((block) => isObject(block) && typeof block["type"] === "string");
  return isBlocks ? output.map(blockText).join("\n") : jsonText(output, 2);
}

function blockText(block: unknown): string {
  if (!isObject(block)) return "";
  if (block["type"] === "text") return stringOf(block["text"]) ?? "";
  const inner = isObject(block["content"]) ? stringOf(block["content"]["text"]) : undefined;
  return inner ?? stringOf(block["text"]) ?? `[${stringOf(block["type"]) ?? "block"}]`;
}

/** Only of tools that run commands: any other can have such words in a file that it read. */
export function exitCodeIn(name: string, output: string, hasFailed: boolean): number | undefined {
  if (!COMMANDS.has(name)) return undefined;
  const [, last] = AT_END.exec(output.slice(-EDGE_CHARS)) ?? [];
  // One that went well ended with 0, whatever it printed.
  if (!hasFailed) return last === "0" ? 0 : undefined;
  const code = AT_BEGINNING.exec(output)?.[1] ?? last;
  return code === undefined ? undefined : Number(code);
}
