// The MCP servers of a session as keys of Codex's configuration. They contain secrets, so they are added only to what is
// sent, and not to what is kept for a later daemon.
import type { JsonObject } from "../../base/json.ts";
import type { GivenMcpServer } from "../types.ts";
import { mergeConfig } from "./config-keys.ts";

/** `params`: of thread/start or thread/resume. */
export function withMcpServers(
  params: JsonObject,
  servers: readonly GivenMcpServer[] | undefined,
): JsonObject {
  if (servers === undefined) return params;
  const mcp_servers = Object.fromEntries(servers.map(toEntry));
  return mergeConfig(params, { config: { mcp_servers } });
}

function toEntry({ name, ...server }: GivenMcpServer): [string, JsonObject] {
  if ("url" in server) return [name, { url: server.url, http_headers: server.headers }];
  return [name, { ...server }];
}
