// Continues with an app-server of an earlier daemon, and all its sessions.
import type { FoundRun } from "../../../base/runs/adopt.ts";
import { adoptShared, isFrom } from "../../adopt-shared.ts";
import type { Lease, Pool } from "../../pool.ts";
import type { Party } from "../../replay.ts";
import { type RunsHost, toRunOrder } from "../../runs-host.ts";
import { SinkGate } from "../../sink-gate.ts";
import type { AdoptOrder } from "../../types.ts";
import { withMcpServers } from "../mcp-servers.ts";
import type { CodexSnapshot } from "./keep.ts";
import { type AppServer, type AppServerOrder, type AppServerParts, createAppServer } from "./process.ts";
import { CodexRun } from "./run.ts";
import { reload } from "./start.ts";

export interface AppServerAdopter extends AppServerParts {
  pool: Pool<AppServer, AppServerOrder>;
  retryLimitMs: number;
  runs: RunsHost;
}

/** Codex would start a second turn or thread. */
const ONCE: ReadonlySet<unknown> = new Set(["turn/start", "thread/start"]);

export async function adoptAppServer(
  host: AppServerAdopter,
  found: FoundRun,
  orders: readonly AdoptOrder[],
): Promise<void> {
  await adoptShared({
    found,
    orders,
    pool: host.pool,
    createServer: (used) => createAppServer(host, used),
    makeParty: (order, lease) => makeParty(host, order, lease),
    once: ONCE,
    unrecorded: toRunOrder(host.runs, host.log).unavailable,
  });
}

function makeParty(host: AppServerAdopter, order: AdoptOrder, lease: Lease<AppServer>): Party {
  const { session_id, generation, log } = order;
  const snapshot = order.snapshot.state as CodexSnapshot;
  const { translator: state, turnParams, threadParams, marker, dead } = snapshot;
  const lane = lease.server.openLane(snapshot.lane);
  const gate = new SinkGate(order.past);
  const run = new CodexRun({
    lease,
    lane,
    state,
    sink: gate,
    log,
    turnParams,
    reload: () => reload(lane, state.threadId, withMcpServers(threadParams, order.mcp)),
    retryLimitMs: host.retryLimitMs,
    marker,
    kept: { session_id, generation, threadParams },
    dead,
  });
  return {
    order,
    run,
    gate,
    enter: () => run.reenter(),
    wrote: (message) => isFrom(message, snapshot.lane, ({ threadId }) => threadId === state.threadId),
    repeat: (name, args) => run.repeat(name, args),
  };
}
