// The help at the prompt, made from the verb table.
import { formatFlags, formatUsageLines } from "../program.ts";
import type { Verb } from "./verb.ts";
import { VERBS } from "./verbs.ts";

export function formatPromptHelp(): string {
  return [
    "Commands:",
    ...formatUsageLines(VERBS.filter((verb) => verb.where !== "shell")),
    "",
    'Values are null, true, false, numbers, JSON, or text. Quote spaces: title="fix the tests".',
    "`help COMMAND` shows the help of a command.",
  ].join("\n");
}

export function formatVerbHelp({ usage, examples = [], summary, aliases, flags = [] }: Verb): string {
  return [
    `usage: ${usage}`,
    "",
    ...examples.map((example) => `  ${example}`),
    ...(examples.length === 0 ? [] : [""]),
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(aliases === undefined ? [] : [`Also: ${aliases.join(", ")}`]),
    ...(flags.length === 0 ? [] : ["", "Flags:", ...formatFlags(flags)]),
  ].join("\n");
}
