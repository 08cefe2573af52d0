// What a run of claude is made of, and its snapshot, from which a later daemon continues it.
import type { Log } from "../../base/log.ts";
import type { BackendSink, ToolSpec } from "../types.ts";
import type { PendingState } from "./pending.ts";
import type { Place } from "./requests.ts";
import type { ClaudeState } from "./state.ts";

export interface ClaudeRunParts {
  state: ClaudeState;
  sink: BackendSink;
  log: Log;
  maxLineBytes: number;
  speaksControl: boolean;
  /** Of the daemon; absent: none. */
  tools?: readonly ToolSpec[] | undefined;
  /** Absent: the run cannot be taken over by another daemon. */
  kept?: KeptRun | undefined;
  /** State of an adopted run besides the translator's. */
  before?: Pick<ClaudeSnapshot, "requestCount" | "pending"> | undefined;
  /** Where claude works, and what is found there now; undefined if it may not ask for permission. */
  where: Where | undefined;
  place: (() => Place) | undefined;
}

export interface Where {
  cwd: string;
  /** Git's list of files that are ignored everywhere. */
  gitIgnore: string;
}

export interface KeptRun {
  version: string;
  session_id: string;
  generation: string;
  unrecorded(error: unknown): void;
}

/** What a later daemon needs to continue an idle run. */
export interface ClaudeSnapshot {
  translator: ClaudeState;
  pending: PendingState;
  requestCount: number;
  speaksControl: boolean;
  where?: Where | undefined;
}
