// Reads settings from flags, environment and file, in this order of precedence.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { pickNearest } from "../base/nearest.ts";
import { resolveSocketPath } from "../base/socket-path.ts";
import type { PriceTable } from "../sessions/index.ts";
import type { AgentConfig } from "./agent-keys.ts";
import { RESERVED_NAMES, readAgents } from "./agents.ts";
import { CONFIG_KEYS, type ConfigKey, type ConfigName, type ConfigValues } from "./config-keys.ts";
import { type McpTables, readMcpServers } from "./mcp-servers.ts";
import { getDefaultStateDir, getHome } from "./places.ts";
import { readPrices } from "./prices.ts";
import { findValueFault } from "./value-fault.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface Config extends Omit<ConfigValues, "socket_path" | "state_dir" | "worktree_dir"> {
  /** The rules for approvals, beside the default config file. Not a setting, so that no project can name another one. */
  policy_file: string;
  socket_path: string;
  state_dir: string;
  worktree_dir: string;
  /** Agents that speak ACP, by name: `[agents.NAME]`. */
  agents: Record<string, AgentConfig>;
  /** Of agents that report none: `[prices.BACKEND]`. */
  prices: PriceTable;
  /** MCP servers that sessions may have, by name: `[mcp.NAME]`. */
  mcp: McpTables;
}

export interface LoadedConfig {
  config: Config;
  /** Warnings that are not errors, such as unknown keys in the file. */
  warnings: string[];
}

export interface ConfigSources {
  /** By key, from the command line. */
  flags: Partial<Record<ConfigName, string>>;
  env: Env;
  /** `--config FILE`; must exist, unlike the default file. */
  file?: string;
}

interface ConfigFile {
  table: Record<string, unknown>;
  path: string;
}

/** The only keys that contain tables; only in the file. */
const AGENTS = "agents";
const PRICES = "prices";
const MCP = "mcp";
const TABLES: readonly string[] = [AGENTS, PRICES, MCP];

export function loadConfig(sources: ConfigSources): LoadedConfig {
  const warnings: string[] = [];
  const { table: fromFile, path } = readConfigFile(sources, warnings);
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(CONFIG_KEYS) as ConfigName[]) {
    values[name] = pick(name, sources, fromFile);
  }
  const checked = values as ConfigValues;
  const agents = readAgents(fromFile[AGENTS], path);
  const config: Config = {
    ...checked,
    socket_path: checked.socket_path ?? resolveSocketPath(sources.env),
    state_dir: checked.state_dir ?? getDefaultStateDir(sources.env),
    worktree_dir: checked.worktree_dir ?? defaultWorktreeDir(sources.env),
    policy_file: join(dirname(defaultConfigFile(sources.env)), "policy.toml"),
    agents,
    prices: readPrices(fromFile[PRICES], path, [...RESERVED_NAMES, ...Object.keys(agents)]),
    mcp: readMcpServers(fromFile[MCP], path),
  };
  return { config, warnings };
}

function pick(name: ConfigName, sources: ConfigSources, file: Record<string, unknown>): unknown {
  const key: ConfigKey = CONFIG_KEYS[name];
  const candidates: [unknown, string][] = [
    [sources.flags[name], `--${key.flag}`],
    [sources.env[key.env] || undefined, key.env],
    [file[name], `${name} in the config file`],
  ];
  const [value, where] = candidates.find(([candidate]) => candidate !== undefined) ?? [undefined, name];
  const checked = key.check.safeParse(value);
  if (checked.success) return checked.data;
  throw new CodedError("invalid_message", `${where}: ${findValueFault(checked.error.issues[0], value)}`);
}

function readConfigFile(sources: ConfigSources, warnings: string[]): ConfigFile {
  const path = sources.file ?? defaultConfigFile(sources.env);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (sources.file === undefined && readErrno(cause) === "ENOENT") return { table: {}, path };
    throw new CodedError("invalid_message", `cannot read the config file ${path}: ${toMessage(cause)}`, {
      cause,
    });
  }
  let table: Record<string, unknown>;
  try {
    table = parseToml(text);
  } catch (cause) {
    throw new CodedError("invalid_message", `${path} is not valid TOML: ${toMessage(cause)}`, { cause });
  }
  for (const key of Object.keys(table)) {
    if (Object.hasOwn(CONFIG_KEYS, key) || TABLES.includes(key)) continue;
    const guess = pickNearest(key, [...Object.keys(CONFIG_KEYS), ...TABLES]);
    warnings.push(`${path}: unknown key "${key}"${guess === undefined ? "" : `; did you mean "${guess}"?`}`);
  }
  return { table, path };
}

function defaultConfigFile(env: Env): string {
  return join(env["XDG_CONFIG_HOME"] || join(getHome(env), ".config"), "blemeesd", "config.toml");
}

/** Not below the state directory, which sandboxed commands do not see. */
function defaultWorktreeDir(env: Env): string {
  return join(env["XDG_DATA_HOME"] || join(getHome(env), ".local", "share"), "blemees", "worktrees");
}
