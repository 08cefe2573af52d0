// Checks what was merged, and says what is wrong with it: in which file, at which field, what was expected, and which key
// was probably meant.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { nearest } from "../../base/nearest.ts";
import { DemianConfig } from "./schema.ts";

const MAX_SHOWN = 5;

export interface CheckedLayer {
  /** What people are told: a path, "the command line", … */
  label: string;
  /** Where its rules and hooks begin in the merged lists. */
  offsets: Readonly<Record<string, number>>;
}

/** What stands below the layer was checked before, so every fault is the layer's own. Throws `config_invalid`. */
export function checkMerged(merged: JsonObject, { label, offsets }: CheckedLayer): DemianConfig {
  const checked = DemianConfig.safeParse(merged);
  if (checked.success) return checked.data;
  const { issues } = checked.error;
  // A file may have thousands, and to explain one takes a while.
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

/** Where and what, a sentence for each fault in it; `merged` is the configuration that has it. */
export function explainIssue(
  issue: Issue,
  merged: JsonObject,
  offsets: CheckedLayer["offsets"] = {},
): string[] {
  const at = pointer(issue.path, offsets);
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(issue.path, merged);
    return issue.keys.map((key) => `${at}/${key}: unknown key; ${hint(key, known)}`);
  }
  if (issue.code === "invalid_union") {
    const [branch = []] = [...issue.errors].sort((a, b) => a.length - b.length);
    if (branch.length === 0) return [`${at}: expected one of ${branchNames(issue.path, merged).join(", ")}`];
    return branch.flatMap((inner) =>
      explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, merged, offsets),
    );
  }
  if (issue.code === "invalid_key") {
    const inner = issue.issues[0]?.message ?? issue.message;
    return [`${at}: "${String(issue.path.at(-1))}" cannot be a name: ${inner}`];
  }
  const given = valueAt(issue.path, merged);
  const got = given === undefined ? "; it is missing" : `, not ${shown(given)}`;
  return [
    `${at || "/"}: ${issue.message.replace(/^Invalid (input|option): /, "").replace(/, received .*$/, "")}${got}`,
  ];
}

function hint(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === undefined ? `known are ${known.join(", ")}` : `did you mean "${guess}"?`;
}

function pointer(path: readonly PropertyKey[], offsets: CheckedLayer["offsets"]): string {
  const offset = offsets[String(path[0])] ?? 0;
  return path
    .map((part, index) => `/${index === 1 && typeof part === "number" ? part - offset : String(part)}`)
    .join("");
}

function valueAt(path: readonly PropertyKey[], merged: unknown): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isObject(value) ? value[String(part)] : undefined;
  }, merged);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function keysAt(path: readonly PropertyKey[], merged: JsonObject): string[] {
  const node = schemaAt(path, merged);
  return Object.keys(branchOf(node, valueAt(path, merged))?.properties ?? {});
}

function branchNames(path: readonly PropertyKey[], merged: JsonObject): string[] {
  const branches = branchesOf(schemaAt(path.slice(0, -1), merged));
  return branches.flatMap((branch) => namesOf(branch));
}

/** The JSON Schema is plain data to walk through; it is made only when something is wrong. */
function schemaAt(path: readonly PropertyKey[], merged: JsonObject): Schema | undefined {
  let node: Schema | undefined = z.toJSONSchema(DemianConfig, { io: "input" }) as Schema;
  path.forEach((part, index) => {
    const branch: Schema | undefined = branchOf(node, valueAt(path.slice(0, index), merged));
    const next: unknown =
      branch?.properties?.[String(part)] ?? branch?.additionalProperties ?? branch?.items ?? undefined;
    node = isObject(next) ? (next as Schema) : undefined;
  });
  return node;
}

function branchesOf(node: Schema | undefined): Schema[] {
  return ((node?.oneOf ?? node?.anyOf ?? []) as Schema[]).filter(isObject);
}

function branchOf(node: Schema | undefined, value: unknown): Schema | undefined {
  const branches = branchesOf(node);
  if (branches.length === 0) return node;
  const type = isObject(value) ? String(value["type"]) : "";
  return branches.find((branch) => namesOf(branch).includes(type));
}

function namesOf(branch: Schema): string[] {
  const type = branch.properties?.["type"];
  if (!isObject(type)) return [];
  return [type["const"], ...((type["enum"] as unknown[] | undefined) ?? [])].flatMap((name) =>
    typeof name === "string" ? [name] : [],
  );
}
