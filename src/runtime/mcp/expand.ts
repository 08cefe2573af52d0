// `${NAME}` in the settings of a server: a variable of the user's environment, so that tokens need not be in a file.
import { CodedError } from "../../base/coded-error.ts";
import type { McpServerConfig } from "../config/mcp-servers.ts";
import type { Env } from "../state-dir.ts";

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Throws `mcp_config` if a variable is not set and has no default (`${NAME:-default}`). */
export function expandConfig(config: McpServerConfig, env: Env): McpServerConfig {
  const expand = (text: string) =>
    text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
      const value = env[name] || fallback;
      if (value !== undefined) return value;
      throw new CodedError("mcp_config", `the variable ${name} is not set; set it, or write \${${name}:-}`);
    });
  const expandAll = (record: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, expand(value)]));
  if ("url" in config) return { ...config, url: expand(config.url), headers: expandAll(config.headers) };
  const { command, args = [], env: more, cwd } = config;
  return {
    ...config,
    command: expand(command),
    args: args.map(expand),
    env: expandAll(more),
    ...(cwd === undefined ? {} : { cwd: expand(cwd) }),
  };
}
