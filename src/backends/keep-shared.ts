// Keeps a session of a process that serves others too, for the next daemon.
import type { PeerPlace } from "../base/jsonrpc.ts";
import type { LanePlace } from "../base/jsonrpc-lanes.ts";
import type { Inbox } from "./inbox.ts";
import { SnapshotKeeper } from "./keeper.ts";
import type { Lease } from "./pool.ts";
import type { Resident, ResidentRouter, SessionLane, SharedProcess } from "./shared-process.ts";

/** Part of the snapshot of every session. */
export interface SharedSnapshot {
  lane: LanePlace;
  /** Ids that the process has seen from us. */
  used: PeerPlace;
  /** In the environment of the session's commands. */
  marker: string;
  /** No other session is in the process. */
  isOwn: boolean;
}

export interface SharedKeeperParts<R extends Resident, T extends ResidentRouter<R>, S> {
  session_id: string;
  generation: string;
  lease: Lease<SharedProcess<R, T>>;
  lane: SessionLane;
  inbox: Pick<Inbox<never>, "isEmpty" | "waitsFrom">;
  marker: string;
  /** No turn and no request of the agent. */
  isIdle(): boolean;
  /** The rest of the snapshot. */
  state(): Omit<S, keyof SharedSnapshot>;
}

/** Undefined if the process ends with this daemon. */
export function keepShared<R extends Resident, T extends ResidentRouter<R>, S extends SharedSnapshot>(
  parts: SharedKeeperParts<R, T, S>,
): SnapshotKeeper | undefined {
  const { session_id, generation, lease, lane, inbox, marker } = parts;
  const { server, isOwn } = lease;
  const { files } = server;
  if (files === undefined) return undefined;
  return new SnapshotKeeper({
    files,
    session_id,
    generation,
    isAtRest: () => parts.isIdle() && lane.isQuiet && inbox.isEmpty,
    out: () => inbox.waitsFrom ?? server.readTo,
    state: () => ({ ...parts.state(), lane: lane.place, used: server.usedIds, marker, isOwn }),
    others: () => server.keepers(),
  });
}
