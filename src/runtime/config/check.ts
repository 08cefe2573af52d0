// Validates the merged configuration. An error names the file, the field, what was expected, and the key that was
// probably meant.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { pickNearest } from "../../base/nearest.ts";
import { DemianConfig } from "./schema.ts";

const MAX_SHOWN = 5;

export interface CheckedLayer {
  /** Shown to the user: a path, "the command line", … */
  label: string;
  /** Where its rules and hooks start in the merged lists. */
  offsets: Readonly<Record<string, number>>;
}

/** Weaker layers were checked before, so every error is this layer's own. Throws `config_invalid`. */
export function checkMerged(merged: JsonObject, { label, offsets }: CheckedLayer): DemianConfig {
  const checked = DemianConfig.safeParse(merged);
  if (checked.success) return checked.data;
  const { issues } = checked.error;
  // A file may have thousands of issues, and explaining one is slow.
  const faults = issues.slice(0, MAX_SHOWN).flatMap((issue) => explainIssue(issue, merged, offsets));
  const left = Math.max(0, faults.length - MAX_SHOWN) + Math.max(0, issues.length - MAX_SHOWN);
  const more = left > 0 ? [`and ${left} more`] : [];
  throw new CodedError(
    "config_invalid",
    [...faults.slice(0, MAX_SHOWN), ...more].map((fault) => `${label}: ${fault}`).join("\n"),
  );
}

type Issue = z.core.$ZodIssue;
type Schema = z.core.JSONSchema.JSONSchema;

/** Describes each issue in a sentence; `merged` is the configuration it was found in. */
export function explainIssue(
  issue: Issue,
  merged: JsonObject,
  offsets: CheckedLayer["offsets"] = {},
): string[] {
  const at = toPointer(issue.path, offsets);
  if (issue.code === "unrecognized_keys") {
    const known = listKeysAt(issue.path, merged);
    return issue.keys.map((key) => `${at}/${key}: unknown key; ${suggestKey(key, known)}`);
  }
  if (issue.code === "invalid_union") {
    const [branch = []] = [...issue.errors].sort((a, b) => a.length - b.length);
    if (branch.length === 0)
      return [`${at}: expected one of ${listBranchNames(issue.path, merged).join(", ")}`];
    return branch.flatMap((inner) =>
      explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, merged, offsets),
    );
  }
  if (issue.code === "invalid_key") {
    const inner = issue.issues[0]?.message ?? issue.message;
    return [`${at}: "${String(issue.path.at(-1))}" is not a valid name: ${inner}`];
  }
  const given = readValueAt(issue.path, merged);
  const got = given === undefined ? "; it is missing" : `, not ${formatValue(given)}`;
  return [
    `${at || "/"}: ${issue.message.replace(/^Invalid (input|option): /, "").replace(/, received .*$/, "")}${got}`,
  ];
}

function suggestKey(key: string, known: readonly string[]): string {
  const guess = pickNearest(key, known);
  return guess === undefined ? `known keys: ${known.join(", ")}` : `did you mean "${guess}"?`;
}

function toPointer(path: readonly PropertyKey[], offsets: CheckedLayer["offsets"]): string {
  const offset = offsets[String(path[0])] ?? 0;
  return path
    .map((part, index) => `/${index === 1 && typeof part === "number" ? part - offset : String(part)}`)
    .join("");
}

function readValueAt(path: readonly PropertyKey[], merged: unknown): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isObject(value) ? value[String(part)] : undefined;
  }, merged);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function listKeysAt(path: readonly PropertyKey[], merged: JsonObject): string[] {
  const node = findSchemaAt(path, merged);
  return Object.keys(findBranch(node, readValueAt(path, merged))?.properties ?? {});
}

function listBranchNames(path: readonly PropertyKey[], merged: JsonObject): string[] {
  const branches = listBranches(findSchemaAt(path.slice(0, -1), merged));
  return branches.flatMap((branch) => listNames(branch));
}

/** The JSON Schema is plain data to walk; it is built only when there is an issue. */
function findSchemaAt(path: readonly PropertyKey[], merged: JsonObject): Schema | undefined {
  let node: Schema | undefined = z.toJSONSchema(DemianConfig, { io: "input" }) as Schema;
  path.forEach((part, index) => {
    const branch: Schema | undefined = findBranch(node, readValueAt(path.slice(0, index), merged));
    const next: unknown =
      branch?.properties?.[String(part)] ?? branch?.additionalProperties ?? branch?.items ?? undefined;
    node = isObject(next) ? (next as Schema) : undefined;
  });
  return node;
}

function listBranches(node: Schema | undefined): Schema[] {
  return ((node?.oneOf ?? node?.anyOf ?? []) as Schema[]).filter(isObject);
}

function findBranch(node: Schema | undefined, value: unknown): Schema | undefined {
  const branches = listBranches(node);
  if (branches.length === 0) return node;
  const type = isObject(value) ? String(value["type"]) : "";
  return branches.find((branch) => listNames(branch).includes(type));
}

function listNames(branch: Schema): string[] {
  const type = branch.properties?.["type"];
  if (!isObject(type)) return [];
  return [type["const"], ...((type["enum"] as unknown[] | undefined) ?? [])].flatMap((name) =>
    typeof name === "string" ? [name] : [],
  );
}
