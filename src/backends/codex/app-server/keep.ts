// What a run is made of, and its snapshot, from which a later daemon continues it.
import type { JsonObject } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import { keepShared, type SharedKeeperParts, type SharedSnapshot } from "../../keep-shared.ts";
import type { SnapshotKeeper } from "../../keeper.ts";
import type { Lease } from "../../pool.ts";
import type { SessionLane } from "../../shared-process.ts";
import type { BackendSink } from "../../types.ts";
import type { AppServer, AppServerResident } from "./process.ts";
import type { ThreadRouter } from "./router.ts";
import type { CodexState } from "./state.ts";

export interface KeptThread {
  session_id: string;
  generation: string;
  /** Of thread/resume. */
  threadParams: JsonObject;
}

export interface ThreadRunParts {
  lease: Lease<AppServer>;
  lane: SessionLane;
  state: CodexState;
  sink: BackendSink;
  log: Log;
  /** Sent with every turn. */
  turnParams: JsonObject;
  /** Reloads the thread after Codex has unloaded it. */
  reload(): Promise<void>;
  retryLimitMs: number;
  /** In the environment of every command of this session. */
  marker: string;
  /** For later daemons. */
  kept: KeptThread;
  /** Abandoned turns of an adopted run. */
  dead?: readonly string[];
}

export interface CodexSnapshot extends SharedSnapshot {
  translator: CodexState;
  /** Ids of abandoned turns that Codex still runs. */
  dead: string[];
  turnParams: JsonObject;
  threadParams: JsonObject;
}

type SharedParts = SharedKeeperParts<AppServerResident, ThreadRouter, CodexSnapshot>;

/** What only the run knows. */
export interface ThreadView extends Pick<SharedParts, "inbox" | "isIdle"> {
  dead(): string[];
}

export function keepThread(parts: ThreadRunParts, view: ThreadView): SnapshotKeeper | undefined {
  const { lease, lane, state, kept, marker, turnParams } = parts;
  const { router } = lease.server;
  return keepShared<AppServerResident, ThreadRouter, CodexSnapshot>({
    ...kept,
    lease,
    lane,
    inbox: view.inbox,
    marker,
    isIdle: () => view.isIdle() && state.asks.size === 0 && !router.isHolding,
    state: () => ({
      translator: state,
      dead: view.dead(),
      turnParams,
      threadParams: kept.threadParams,
    }),
  });
}
