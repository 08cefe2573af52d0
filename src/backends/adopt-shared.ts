// Continues with a process of an earlier daemon that serves several sessions.
import { isObject, type JsonObject } from "../base/json.ts";
import type { PeerPlace } from "../base/jsonrpc.ts";
import { getLane, type LanePlace } from "../base/jsonrpc-lanes.ts";
import type { FoundRun } from "../base/runs/adopt.ts";
import { removeSnapshot } from "../base/runs/snapshots.ts";
import type { SharedSnapshot } from "./keep-shared.ts";
import type { Lease, Pool, PooledOrder } from "./pool.ts";
import { type Party, replayFrom, replayRun } from "./replay.ts";
import type { Resident, ResidentRouter, SharedProcess } from "./shared-process.ts";
import type { AdoptOrder } from "./types.ts";

export interface SharedAdoption<R extends Resident, T extends ResidentRouter<R>, O extends PooledOrder> {
  found: FoundRun;
  orders: readonly AdoptOrder[];
  pool: Pool<SharedProcess<R, T>, O>;
  createServer(used: PeerPlace): SharedProcess<R, T>;
  makeParty(order: AdoptOrder, lease: Lease<SharedProcess<R, T>>): Party;
  /** Requests that the agent must not get twice. */
  once: ReadonlySet<unknown>;
  unrecorded(error: unknown): void;
}

/** How far to look for the name of a method. */
const HEAD_BYTES = 256;

export async function adoptShared<R extends Resident, T extends ResidentRouter<R>, O extends PooledOrder>(
  adoption: SharedAdoption<R, T, O>,
): Promise<SharedProcess<R, T>> {
  const { found, orders, pool, once } = adoption;
  const snapshots = orders.map(({ snapshot }) => snapshot.state as SharedSnapshot);
  const server = adoption.createServer({
    lanes: Math.max(...snapshots.map(({ used }) => used.lanes)),
    count: Math.max(...snapshots.map(({ used }) => used.count)),
  });
  const pooled = pool.adopt(server, snapshots[0]?.isOwn === true);
  try {
    const files = server.adopt(found, replayFrom(found, orders), adoption.unrecorded);
    await replayRun(found, {
      files,
      parties: orders.map((order) => adoption.makeParty(order, pooled.lease())),
      isRepeatable: (line) => !once.has((JSON.parse(line) as JsonObject)["method"]),
      isStop: (line) => !line.subarray(0, HEAD_BYTES).includes('"method"'),
      repeated: () => server.endReplay(),
    });
  } catch (error) {
    server.files?.detach();
    pooled.drop();
    throw error;
  }
  dropOthers(found, orders);
  return server;
}

/** Whether this session wrote it: a request in its lane, or a notification about it. */
export function isFrom(
  message: JsonObject,
  lane: LanePlace,
  names: (params: JsonObject) => boolean,
): boolean {
  const { id, method, params } = message;
  if (typeof method !== "string") return false;
  return typeof id === "number" ? getLane(id) === lane.number : isObject(params) && names(params);
}

/** Sessions that are not continued: the store does not know them. */
function dropOthers({ directory, snapshots }: FoundRun, orders: readonly AdoptOrder[]): void {
  const kept = new Set(orders.map(({ session_id }) => session_id));
  for (const { session_id } of snapshots) {
    if (!kept.has(session_id)) removeSnapshot(directory.sessions, session_id);
  }
}
