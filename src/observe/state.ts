// The reducer's state of a session: the running turn and the open calls. Plain data; only reduce.ts and the files it
// calls change it.
import { defined } from "../base/values.ts";
import { endWait, NO_WAIT, startWait, type WaitClock } from "../base/wait-clock.ts";
import { toVerdict } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import { type Asks, noteAsk } from "./asks.ts";
import type { Call } from "./calls.ts";
import type { EventRow } from "./rows.ts";
import type { ToolEvent } from "./types.ts";
import { findProject } from "./usage.ts";

export interface OpenCall extends Call {
  item_id: string;
  turn_id?: string;
  started_at_ms: number;
  /** An excerpt of the input. */
  input: unknown;
  /** The call that started the sub-agent of this call. */
  parent?: string;
  /** Its `started` row exists. A call announced without input gets it when the input is known. */
  isReported: boolean;
  /** Its output so far. */
  outputChars: number;
  outputTail: string;
  outputReportedMs?: number;
}

/** A result that says only that the call was cut off; the next frame says why. */
export interface HeldResult {
  call: OpenCall;
  output: string;
  atMs: number;
}

export interface SessionState {
  readonly session_id: string;
  readonly source_provider: string;
  readonly backend: string;
  /** What the backend reports as input tokens includes those read from the cache. */
  readonly inputHasCached: boolean;
  /** The repository or directory. */
  project?: string;
  thread_id?: string;
  cwd?: string;
  root?: string;
  parent?: string;
  model?: string;
  turn?: { turn_id: string; started_at_ms: number };
  /** How long this turn has waited for answers. */
  waits: WaitClock;
  /** Requests by the call they are about. */
  readonly asks: Map<string, Asks>;
  /** An answer to a request has ended the turn. */
  isCancelled: boolean;
  crash?: { code: string; message: string };
  readonly calls: Map<string, OpenCall>;
  readonly held: HeldResult[];
}

/** What is read of a session's row. */
export type ObservedSession = Pick<SessionRow, "session_id" | "backend"> & {
  [K in "native_session_id" | "cwd" | "project" | "worktree" | "turn" | "root" | "parent" | "model"]?:
    | SessionRow[K]
    | undefined;
};

/** Above this the oldest calls are dropped: they never ended. */
const MAX_CALLS = 500;

export function createState(
  { session_id, backend }: { session_id: string; backend: string },
  source_provider = backend,
  inputHasCached = false,
): SessionState {
  return {
    session_id,
    source_provider,
    backend,
    inputHasCached,
    isCancelled: false,
    waits: NO_WAIT,
    asks: new Map(),
    calls: new Map(),
    held: [],
  };
}

/** Holds nothing beyond a new state. */
export function isIdle(state: SessionState): boolean {
  const { turn, calls, held, asks } = state;
  return turn === undefined && calls.size === 0 && held.length === 0 && asks.size === 0;
}

/** The row knows the turn even if this daemon did not see it start. */
export function noteSession(state: SessionState, session: ObservedSession): void {
  if (session.native_session_id !== undefined) state.thread_id = session.native_session_id;
  if (session.cwd !== undefined) state.cwd = session.cwd;
  if (session.root !== undefined) state.root = session.root;
  if (session.parent !== undefined) state.parent = session.parent;
  if (session.model !== undefined) state.model = session.model;
  const project = findProject(session);
  if (project !== undefined) state.project = project;
  if (session.turn !== undefined && session.turn.turn_id !== state.turn?.turn_id) {
    state.turn = { turn_id: session.turn.turn_id, started_at_ms: session.turn.started_at_ms };
    state.isCancelled = false;
    state.waits = NO_WAIT;
    delete state.crash;
  }
}

/** Records a request's change: wait time of its turn and call, and the decision. */
export function noteRequest(state: SessionState, row: RequestRow, nowMs: number): void {
  const verdict = toVerdict(row);
  if (verdict === "cancelled") state.isCancelled = true;
  state.waits =
    verdict === "waiting"
      ? startWait(state.waits, row.request_id, row.requested_at_ms)
      : endWait(state.waits, row.request_id, row.resolved_at_ms ?? nowMs);
  noteAsk(state.asks, row, nowMs);
  const { item_id = "" } = row;
  if (state.turn === undefined && verdict !== "waiting" && !state.calls.has(item_id))
    state.asks.delete(item_id);
}

export function addCall(state: SessionState, call: OpenCall): void {
  state.calls.set(call.item_id, call);
  const [oldest] = state.calls.keys();
  if (state.calls.size > MAX_CALLS && oldest !== undefined) state.calls.delete(oldest);
}

/** A row about one call. */
export function toCallRow(
  state: SessionState,
  call: OpenCall,
  nowMs: number,
  rest: Pick<ToolEvent, "event_type" | "phase"> & Partial<ToolEvent>,
): EventRow {
  const { item_type, tool_name, item_id, turn_id, command, file_path, change_kind, diff_summary } = call;
  const cwd = call.cwd ?? state.cwd;
  const row: ToolEvent = {
    session_id: state.session_id,
    source_provider: state.source_provider,
    ...defined({ thread_id: state.thread_id, turn_id }),
    item_id,
    item_type,
    tool_name,
    ...defined({ command, cwd, file_path, change_kind, diff_summary }),
    ...rest,
    created_at_ms: nowMs,
  };
  return { kind: "tool", row };
}
