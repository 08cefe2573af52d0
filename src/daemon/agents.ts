// Reads `[agents.NAME]` of the config file; errors name the key.
import { AGENT_KEYS, type AgentConfig } from "./agent-keys.ts";
import { readNamedTables } from "./named-tables.ts";

/** Names of built-in backends, and their aliases. */
export const RESERVED_NAMES: readonly string[] = ["claude", "codex", "codex-app", "demian", "demo"];

/** Used in URLs, `options.NAME` and command lines. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `path`: the file, for messages. Throws `invalid_message`. */
export function readAgents(value: unknown, path: string): Record<string, AgentConfig> {
  return readNamedTables(value, path, {
    section: "agents",
    keys: AGENT_KEYS,
    least: 'command = "…"',
    findNameFault,
  });
}

function findNameFault(name: string): string | undefined {
  if (!NAME.test(name))
    return 'a name may contain letters, digits, ".", "_" and "-", must start with a letter or digit, and has at most 64 characters';
  return RESERVED_NAMES.includes(name.toLowerCase())
    ? `${name} is a built-in backend; choose another name`
    : undefined;
}
