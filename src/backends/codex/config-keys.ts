// The free-form `config` of a session: keys that are code or permissions in disguise, and feature flags. A top-level
// key may be dotted ("a.b.c"), as on Codex's own command line; below it a dot has no meaning.
import { CodedError } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutNul } from "../argv.ts";

/** Refused unless the daemon's `codex_allow_config` names them, with this reason. */
const REFUSED: Readonly<Record<string, string>> = {
  notify: "it names a program that Codex runs",
  hooks: "it names programs that Codex runs",
  mcp_servers: "it names programs that Codex runs",
  plugins: "it names programs that Codex runs",
  marketplaces: "it names programs that Codex runs",
  skills: "it names programs that Codex runs",
  js_repl_node_path: "it names a program that Codex runs",
  zsh_path: "it names a program that Codex runs",
  model_providers: "it decides where the API key is sent",
  openai_base_url: "it decides where the API key is sent",
  chatgpt_base_url: "it decides where the API key is sent",
  otel: "it decides where the conversation is sent",
  projects: "it decides which projects are trusted",
  sandbox_mode: "use the option sandbox",
  sandbox_workspace_write: "it widens the sandbox",
  sandbox_permissions: "it widens the sandbox",
  permissions: "it widens the sandbox",
  default_permissions: "it widens the sandbox",
  approval_policy: "use the option approval-policy",
  approvals_reviewer: "it decides who approves",
};

/** They decide how the model thinks and what is shown. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    "model",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "plan_mode_reasoning_effort",
  ],
  ...["hide_agent_reasoning", "show_raw_agent_reasoning", "personality", "service_tier", "tui"],
  ...["model_context_window", "model_auto_compact_token_limit", "tool_output_token_limit"],
]);

const PLAIN_PART = /^[A-Za-z0-9_-]+$/;
const PROTOTYPES = new Set(["__proto__", "constructor", "prototype"]);

/** These have an option of their own, and Codex accepts them in no other way. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  profile: "use the option profile",
  profiles: "Codex no longer reads it; use the option profile",
};

export function checkConfig(config: JsonObject, allowed: readonly string[], at: string): void {
  for (const { path } of listLeaves(config)) {
    const [top = ""] = path;
    const where = `${at}/${path.join("/")}`;
    if (Object.hasOwn(ELSEWHERE, top)) throw new CodedError("invalid_message", `${where}: ${ELSEWHERE[top]}`);
    if (!Object.hasOwn(REFUSED, top) || isAllowed(path, allowed)) continue;
    throw new CodedError(
      "unsafe_flag",
      `${where}: ${REFUSED[top]}; passed on only if codex_allow_config names it`,
    );
  }
}

/** Entries that may give rights, by their dotted name: all but a few. */
export function listUnknownKeys(config: JsonObject): Record<string, unknown> {
  const leaves = listLeaves(config).filter(({ path: [top = ""] }) => !HARMLESS.has(top));
  return Object.fromEntries(leaves.map(({ path, value }) => [`config.${path.join(".")}`, value]));
}

/** `config.features.<name>` → `--enable <name>` / `--disable <name>`, sorted by name. */
export function toFeatureFlags(config: JsonObject, at: string): string[] {
  const flags = new Map<string, boolean>();
  for (const { path, value } of listLeaves(config)) {
    if (path[0] !== "features" || (path.length === 1 && isObject(value))) continue;
    const [, name = "", ...rest] = path;
    const where = `${at}/${path.join("/")}`;
    if (rest.length > 0 || typeof value !== "boolean") {
      throw new CodedError("invalid_message", `${where}: expected features.<name>: true or false`);
    }
    if (!/^[A-Za-z0-9_]+$/.test(name)) {
      throw new CodedError("invalid_message", `${where}: expected the name of a feature`);
    }
    flags.set(name, value);
  }
  return [...flags].sort().flatMap(([name, on]) => [on ? "--enable" : "--disable", name]);
}

/** `key=value` for `-c`, without feature flags. Values that are not strings are written as JSON. */
export function listSettings(config: JsonObject, at: string): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const where = `${at}/${key}`;
    if (key.startsWith("-")) {
      throw new CodedError("unsafe_flag", `${where}: a name that starts with "-" would be read as a flag`);
    }
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return splitKey(key, at)[0] === "features" ? [] : [`${key}=${withoutNul(text, where)}`];
  });
}

/** The config without feature flags, as one nested object: dotted keys are expanded. */
export function nestConfig(config: JsonObject): JsonObject {
  const nested: JsonObject = {};
  for (const { path, value } of listLeaves(config)) if (path[0] !== "features") put(nested, path, value);
  return nested;
}

/** `over` wins; objects are merged, everything else is replaced. */
export function mergeConfig(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const old = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = isObject(old) && isObject(value) ? mergeConfig(old, value) : value;
  }
  return merged;
}

interface Leaf {
  path: string[];
  value: unknown;
}

function listLeaves(config: JsonObject, at = "/options/codex/config"): Leaf[] {
  return Object.entries(config).flatMap(([key, value]) => leavesBelow(splitKey(key, at), value));
}

/** An empty object is a leaf too: it can still replace something. */
function leavesBelow(path: string[], value: unknown): Leaf[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesBelow([...path, key], inner));
}

/** Codex splits a key at every dot, so quotes and spaces would only hide a name from us. */
function splitKey(key: string, at: string): string[] {
  const parts = key.split(".");
  if (parts.every((part) => PLAIN_PART.test(part) && !PROTOTYPES.has(part))) return parts;
  throw new CodedError("invalid_message", `${at}/${key}: expected names of [A-Za-z0-9_-], joined by dots`);
}

function isAllowed(path: readonly string[], allowed: readonly string[]): boolean {
  return allowed.some((name) => name !== "" && name.split(".").every((part, index) => part === path[index]));
}

function put(target: JsonObject, path: readonly string[], value: unknown): void {
  const [head = "", ...rest] = path;
  if (rest.length === 0) {
    target[head] = value;
    return;
  }
  const inner = Object.hasOwn(target, head) ? target[head] : undefined;
  const next: JsonObject = isObject(inner) ? inner : {};
  target[head] = next;
  put(next, rest, value);
}
