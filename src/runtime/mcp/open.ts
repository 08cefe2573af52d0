// The servers of a session: from the configuration, and from its client. A client's server does not replace one of the
// same name.

import { RUN_MARKER } from "../../base/child.ts";
import { defined } from "../../base/values.ts";
import { buildCommandEnv } from "../command-env.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { Env } from "../state-dir.ts";
import { McpHub } from "./hub.ts";
import { nameServer } from "./names.ts";
import type { McpOrder } from "./types.ts";

const MAX_SERVERS = 32;

export interface HubOrder {
  config: DemianConfig;
  /** The names of the servers that the project's file defines. */
  ofProject: ReadonlySet<string>;
  /** Passed by the client that opens the session. */
  given: readonly Pick<McpOrder, "name" | "config">[] | undefined;
  /** The workspace. */
  cwd: string;
  /** The user's environment. */
  env: Env;
}

/** Undefined: there are no servers. Nothing is started yet. */
export function createHub(order: HubOrder, warnings: string[]): McpHub | undefined {
  const { config, cwd, env } = order;
  const orders = listOrders(order);
  if (orders.length === 0) return undefined;
  if (orders.length > MAX_SERVERS)
    warnings.push(`${orders.length} MCP servers are configured; only the first ${MAX_SERVERS} are used`);
  // Without the keys of models. The daemon's marker stays, so that it finds what an abrupt end leaves behind.
  const marker = defined({ [RUN_MARKER]: env[RUN_MARKER] });
  const given = { ...buildCommandEnv(env, config.providers, config.sandbox.env), ...marker };
  return new McpHub(orders.slice(0, MAX_SERVERS), { cwd, userEnv: env, env: given });
}

function listOrders({ config, ofProject, given = [] }: HubOrder): McpOrder[] {
  const orders = Object.entries(config.mcpServers).map(
    ([name, server]): McpOrder => ({
      name,
      config: server,
      origin: ofProject.has(name) ? "project" : "user",
    }),
  );
  const taken = new Set(orders.map(({ name }) => name));
  for (const { name: wanted, config: server } of given) {
    const name = nameServer(wanted, taken);
    taken.add(name);
    orders.push({ name, config: server, origin: "client" });
  }
  return orders;
}
