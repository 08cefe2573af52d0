// The MCP servers of a session, in the file that `--mcp-config` names. They contain secrets: command lines are visible to
// other users, and environments to every command of the agent. Claude reads the file once, as it starts.
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeId } from "../../base/id.ts";
import type { Environment, GivenMcpServer } from "../types.ts";

export interface McpFile {
  path: string;
  /** Claude has started, or did not. */
  remove(): Promise<void>;
}

/** Undefined: there is nothing to write. */
export async function writeMcpFile(
  servers: readonly GivenMcpServer[] | undefined,
  env: Environment,
): Promise<McpFile | undefined> {
  if (servers === undefined) return undefined;
  const path = join(env["XDG_RUNTIME_DIR"] || tmpdir(), `blemees-${makeId("mcp")}.json`);
  const mcpServers = Object.fromEntries(servers.map(toEntry));
  await writeFile(path, JSON.stringify({ mcpServers }), { mode: 0o600, flag: "wx" });
  return { path, remove: () => rm(path, { force: true }) };
}

function toEntry({ name, ...server }: GivenMcpServer): [string, object] {
  return [name, { type: "url" in server ? "http" : "stdio", ...server }];
}
