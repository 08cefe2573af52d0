// Reads `[agents.NAME]` of the config file; errors name the key.
import { CodedError } from "../base/coded-error.ts";
import { isObject } from "../base/json.ts";
import { pickNearest } from "../base/nearest.ts";
import { AGENT_KEYS, type AgentConfig, type AgentKey, type AgentKeyName } from "./agent-keys.ts";
import { findValueFault } from "./value-fault.ts";

/** Names of built-in backends, and their aliases. */
export const RESERVED_NAMES: readonly string[] = ["claude", "codex", "codex-app", "demian", "demo"];

/** Used in URLs, `options.NAME` and command lines. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `path`: the file, for messages. Throws `invalid_message`. */
export function readAgents(value: unknown, path: string): Record<string, AgentConfig> {
  if (value === undefined) return {};
  if (!isObject(value)) throw bad(`${path}: agents: expected tables named [agents.NAME]`);
  return Object.fromEntries(
    Object.entries(value).map(([name, table]) => [name, readAgent(name, table, path)]),
  );
}

function readAgent(name: string, table: unknown, path: string): AgentConfig {
  const at = `${path}: agents.${name}`;
  if (!NAME.test(name)) {
    throw bad(
      `${at}: a name may contain letters, digits, ".", "_" and "-", must start with a letter or digit, and has at most 64 characters`,
    );
  }
  if (RESERVED_NAMES.includes(name.toLowerCase())) {
    throw bad(`${at}: ${name} is a built-in backend; choose another name`);
  }
  if (!isObject(table)) throw bad(`${at}: expected a table with at least command = "…"`);
  const names = Object.keys(AGENT_KEYS) as AgentKeyName[];
  for (const key of Object.keys(table)) {
    if (Object.hasOwn(AGENT_KEYS, key)) continue;
    const guess = pickNearest(key, names);
    throw bad(`${at}.${key}: unknown key${guess === undefined ? "" : `; did you mean "${guess}"?`}`);
  }
  return Object.fromEntries(names.map((key) => [key, pick(key, table[key], at)])) as AgentConfig;
}

function pick(name: AgentKeyName, value: unknown, at: string): unknown {
  const key: AgentKey = AGENT_KEYS[name];
  const checked = key.check.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = [name, ...(issue?.path ?? [])].map(String).join(".");
  const why = value === undefined ? "required" : findValueFault(issue, value, name === "env");
  throw bad(`${at}.${place}: ${why}`);
}

function bad(message: string): CodedError {
  return new CodedError("invalid_message", message);
}
