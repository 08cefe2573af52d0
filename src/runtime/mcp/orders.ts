// The servers of a session: from the configuration, and from its client. A client's server does not replace one of the
// same name.
import type { DemianConfig } from "../config/schema.ts";
import { nameServer } from "./names.ts";
import type { McpOrder } from "./types.ts";

const MAX_SERVERS = 32;

export interface McpSources {
  servers: DemianConfig["mcpServers"];
  /** The names of those that the project's file defines. */
  ofProject: ReadonlySet<string>;
  /** Passed by the client that opened the session. */
  given: readonly Pick<McpOrder, "name" | "config">[];
}

export function listMcpOrders({ servers, ofProject, given }: McpSources, warnings: string[]): McpOrder[] {
  const orders = Object.entries(servers).map(
    ([name, config]): McpOrder => ({ name, config, origin: ofProject.has(name) ? "project" : "user" }),
  );
  const taken = new Set(orders.map(({ name }) => name));
  for (const { name: wanted, config } of given) {
    const name = nameServer(wanted, taken);
    taken.add(name);
    orders.push({ name, config, origin: "client" });
  }
  if (orders.length > MAX_SERVERS)
    warnings.push(`${orders.length} MCP servers are configured; only the first ${MAX_SERVERS} are used`);
  return orders.slice(0, MAX_SERVERS);
}
