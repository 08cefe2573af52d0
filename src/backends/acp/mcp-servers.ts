// The MCP servers of a session as parameters of session/new, load and resume. The daemon's own tools are one of them.
import { RUN_MARKER } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObject } from "../../base/values.ts";
import type { Environment, GivenMcpServer, StartOrder } from "../types.ts";
import type { AcpProcess } from "./process.ts";

export interface McpPlace {
  name: string;
  server: Pick<AcpProcess, "intro">;
  mcp: readonly GivenMcpServer[] | undefined;
}

/** Throws `spawn_failed` if the agent cannot connect to one of them. */
export function toAcpServers({ name: agent, server, mcp = [] }: McpPlace): JsonObject[] {
  const { mcpCapabilities, _meta } = asObject(server.intro["agentCapabilities"]);
  const capabilities = asObject(mcpCapabilities);
  // In ACP every agent takes programs, but demian without HTTP ignores all servers.
  const ignoresAll = capabilities["http"] !== true && asObject(_meta)["demian"] !== undefined;
  if (ignoresAll && mcp.length > 0)
    throw new CodedError(
      "spawn_failed",
      `this ${agent} connects to no MCP servers; start it without mcp and manager`,
    );
  return mcp.map(({ name, ...one }) => {
    if (!("url" in one)) return { name, ...one, env: toPairs(one.env) };
    if (capabilities["http"] === true)
      return { type: "http", name, url: one.url, headers: toPairs(one.headers) };
    throw new CodedError(
      "spawn_failed",
      `${agent} cannot use the MCP server ${name}: it takes only programs`,
    );
  });
}

/** `blemees mcp` of this daemon. Its environment says whose it is, also below a process of several sessions. */
export function addOwnTools(
  { mcp, tools, env }: Pick<StartOrder, "mcp" | "tools" | "env">,
  { daemon, marker }: { daemon: Environment; marker: string },
): readonly GivenMcpServer[] | undefined {
  if (tools === undefined) return mcp;
  const command = daemon["BLEMEES_SM"] ?? "sm";
  const own = {
    name: "blemees",
    command,
    args: ["mcp", "--no-start"],
    env: { ...env, [RUN_MARKER]: marker },
  };
  return [...(mcp ?? []), own];
}

function toPairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
