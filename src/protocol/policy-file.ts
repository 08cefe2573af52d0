// Reads and writes the text of a rules file. An error names the file, the rule and the field.
import { parse, stringify } from "smol-toml";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { explainIssues } from "../base/schema.ts";
import { asObject, asObjects } from "../base/values.ts";
import { PolicyFile, PolicyRule } from "./policy.ts";

const HEAD = `# Rules that answer agents' requests without asking (docs/policy.md). Changed by \`sm policy\`, which keeps no
# comments but these; use \`why\`.
`;

/** Throws `policy_invalid`. `path` is only for the message. */
export function parseRules(text: string, path: string): PolicyRule[] {
  let table: unknown;
  try {
    // TOML has its own dates; a rule has text.
    table = JSON.parse(JSON.stringify(parse(text)));
  } catch (cause) {
    throw invalid(path, `not valid TOML: ${toMessage(cause)}`, cause);
  }
  for (const [at, given] of asObjects(asObject(table)["rules"]).entries()) {
    const rule = PolicyRule.safeParse(given);
    if (!rule.success)
      throw invalid(path, `rule ${at + 1}${nameRule(given)}: ${explainIssues(rule.error.issues)}`);
  }
  const file = PolicyFile.safeParse(table);
  if (!file.success) throw invalid(path, explainIssues(file.error.issues));
  const { rules = [] } = file.data;
  const seen = new Set<string>();
  for (const [at, { id }] of rules.entries()) {
    if (seen.has(id)) throw invalid(path, `rule ${at + 1}: /id: "${id}" is used twice`);
    seen.add(id);
  }
  return rules;
}

export function formatRules(rules: readonly PolicyRule[]): string {
  return `${HEAD}${rules.length === 0 ? "" : `\n${stringify({ rules })}`}`;
}

function nameRule({ id }: Record<string, unknown>): string {
  return typeof id === "string" ? ` ("${id}")` : "";
}

function invalid(path: string, fault: string, cause?: unknown): CodedError {
  return new CodedError("policy_invalid", `${path}: ${fault}`, { cause });
}
