// MCP servers that sessions may have, `[mcp.NAME]` of the config file, in one table of keys. Source of the loader and
// docs/config.md. Clients choose servers by name and cannot name programs.
import * as z from "zod";
import { McpName } from "../protocol/session.ts";
import type { McpConfig } from "../sessions/index.ts";
import { badTableError, readNamedTables, type TableKey, type TableValues } from "./named-tables.ts";

const values = z.record(z.string().regex(/^[^=\0\s]+$/, "expected a name"), z.string());

export const MCP_KEYS = {
  command: {
    check: z.string().min(1).optional(),
    defaultText: "none",
    meaning: "A server that the agent starts: a path, or a name to find on PATH.",
  },
  args: {
    check: z.array(z.string()).optional(),
    defaultText: "none",
    meaning: "Its arguments, as a list. There is no shell.",
  },
  env: {
    check: values.optional(),
    defaultText: "none",
    meaning: "Variables for it. A value may contain variables of the daemon's environment: see the example.",
    isSecret: true,
  },
  url: {
    check: z.url({ protocol: /^https?$/, error: "expected an http or https URL" }).optional(),
    defaultText: "none",
    meaning: "Instead of `command`: a server on streamable HTTP.",
  },
  headers: {
    check: values.optional(),
    defaultText: "none",
    meaning: "Headers for it; values as in `env`.",
    isSecret: true,
  },
} as const satisfies Record<string, TableKey>;

/** Of the tools that the daemon itself gives to agents. */
export const RESERVED_MCP_NAMES: readonly string[] = ["blemees"];

export type McpTables = Readonly<Record<string, McpConfig>>;

/** `path`: the file, for messages. Throws `invalid_message`. */
export function readMcpServers(value: unknown, path: string): McpTables {
  const tables = readNamedTables(value, path, {
    section: "mcp",
    keys: MCP_KEYS,
    least: 'command = "…" or url = "…"',
    findNameFault,
  });
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, toConfig(table, `${path}: mcp.${name}`)]),
  );
}

function findNameFault(name: string): string | undefined {
  const checked = McpName.safeParse(name);
  if (!checked.success) return `the name is not valid: ${checked.error.issues[0]?.message}`;
  return RESERVED_MCP_NAMES.includes(name) ? `the name ${name} is reserved; choose another one` : undefined;
}

function toConfig({ command, args, env, url, headers }: TableValues<typeof MCP_KEYS>, at: string): McpConfig {
  if (command === undefined && url === undefined) throw badTableError(`${at}: expected command or url`);
  if (url === undefined && command !== undefined) {
    if (headers !== undefined) throw badTableError(`${at}.headers: only for a server with url`);
    return { command, args: args ?? [], env: env ?? {} };
  }
  const odd = Object.entries({ command, args, env }).find(([, one]) => one !== undefined);
  if (odd !== undefined) throw badTableError(`${at}.${odd[0]}: conflicts with url`);
  return { url: url ?? "", headers: headers ?? {} };
}
