// What a run is made of, and its snapshot, from which a later daemon continues it.
import type { Log } from "../../base/log.ts";
import { keepShared, type SharedKeeperParts, type SharedSnapshot } from "../keep-shared.ts";
import type { SnapshotKeeper } from "../keeper.ts";
import type { Lease } from "../pool.ts";
import type { SessionLane } from "../shared-process.ts";
import type { BackendSink } from "../types.ts";
import type { Opened, Opening } from "./open.ts";
import type { AcpProcess, AcpResident } from "./process.ts";
import type { AcpRouter } from "./router.ts";
import type { Limits } from "./spec.ts";
import type { AcpState } from "./state.ts";

/** How a session is opened again. */
export type KeptOpening = Pick<Opening, "cwd" | "meta" | "wishes">;

export interface KeptSession {
  session_id: string;
  generation: string;
  opening: KeptOpening;
}

export interface AcpRunParts {
  name: string;
  lease: Lease<AcpProcess>;
  lane: SessionLane;
  state: AcpState;
  sink: BackendSink;
  log: Log;
  limits: Limits;
  stallMs: number;
  userEcho: boolean;
  /** Reopens the session after it was closed. */
  reopen(sessionId: string): Promise<Opened>;
  /** In the environment of every command of this session. */
  marker: string;
  /** For later daemons. */
  kept: KeptSession;
  /** An adopted session that the agent has closed. */
  isClosedThere?: boolean;
}

export interface AcpSnapshot extends SharedSnapshot {
  translator: AcpState;
  isClosedThere: boolean;
  opening: KeptOpening;
}

type SharedParts = SharedKeeperParts<AcpResident, AcpRouter, AcpSnapshot>;

/** What only the run knows. */
export interface SessionView extends Pick<SharedParts, "inbox" | "isIdle"> {
  isClosedThere(): boolean;
}

export function keepSession(parts: AcpRunParts, view: SessionView): SnapshotKeeper | undefined {
  const { lease, lane, state, kept, marker } = parts;
  return keepShared<AcpResident, AcpRouter, AcpSnapshot>({
    ...kept,
    lease,
    lane,
    inbox: view.inbox,
    marker,
    isIdle: () => view.isIdle() && state.asks.size === 0,
    state: () => ({
      translator: state,
      isClosedThere: view.isClosedThere(),
      opening: kept.opening,
    }),
  });
}
