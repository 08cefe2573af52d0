// What the reducer remembers about a session: the turn that runs and the calls that have not ended. Plain data; only
// reduce.ts and the files it calls change it.
import { endWait, NO_WAIT, startWait, type WaitClock } from "../base/wait-clock.ts";
import { verdictOf } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import { type Asks, noteAsk } from "./asks.ts";
import type { Call } from "./calls.ts";
import type { EventRow } from "./rows.ts";
import type { ToolEvent } from "./types.ts";

export interface OpenCall extends Call {
  item_id: string;
  turn_id?: string;
  started_at_ms: number;
  /** An excerpt of what went in. */
  input: unknown;
  /** The call that started the sub-agent which made this one. */
  parent?: string;
  /** Its `started` row is out. It waits for the input where the call is announced before that is known. */
  isTold: boolean;
  /** What it has printed so far. */
  outputChars: number;
  outputTail: string;
  outputToldMs?: number;
}

/** A result that says only that the call was cut off. By what is told by the next frame. */
export interface HeldResult {
  call: OpenCall;
  output: string;
  atMs: number;
}

export interface SessionState {
  readonly session_id: string;
  readonly source_provider: string;
  thread_id?: string;
  cwd?: string;
  turn?: { turn_id: string; started_at_ms: number };
  /** How long this turn has waited for people. */
  waits: WaitClock;
  /** What was asked, by the call it is about. */
  readonly asks: Map<string, Asks>;
  /** A person has ended the turn by their answer to a request. */
  isCancelled: boolean;
  crash?: { code: string; message: string };
  readonly calls: Map<string, OpenCall>;
  readonly held: HeldResult[];
}

/** A call whose end never comes is forgotten when so many others are open. */
const MAX_CALLS = 500;

export function newState(
  { session_id, backend }: { session_id: string; backend: string },
  source_provider = backend,
): SessionState {
  return {
    session_id,
    source_provider,
    isCancelled: false,
    waits: NO_WAIT,
    asks: new Map(),
    calls: new Map(),
    held: [],
  };
}

/** Nothing that a new state would not know. */
export function isIdle(state: SessionState): boolean {
  const { turn, calls, held, asks } = state;
  return turn === undefined && calls.size === 0 && held.length === 0 && asks.size === 0;
}

/** The row knows the turn also when this daemon did not see it begin. */
export function noteSession(state: SessionState, session: SessionRow): void {
  if (session.native_session_id !== undefined) state.thread_id = session.native_session_id;
  if (session.cwd !== undefined) state.cwd = session.cwd;
  if (session.turn !== undefined && session.turn.turn_id !== state.turn?.turn_id) {
    state.turn = { turn_id: session.turn.turn_id, started_at_ms: session.turn.started_at_ms };
    state.isCancelled = false;
    state.waits = NO_WAIT;
    delete state.crash;
  }
}

/** A step of a request: how long the turn and the call it is about wait, and what was decided. */
export function noteRequest(state: SessionState, row: RequestRow, nowMs: number): void {
  const verdict = verdictOf(row);
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
export function callRow(
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
    ...(state.thread_id === undefined ? {} : { thread_id: state.thread_id }),
    ...(turn_id === undefined ? {} : { turn_id }),
    item_id,
    item_type,
    tool_name,
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(file_path === undefined ? {} : { file_path }),
    ...(change_kind === undefined ? {} : { change_kind }),
    ...(diff_summary === undefined ? {} : { diff_summary }),
    ...rest,
    created_at_ms: nowMs,
  };
  return { kind: "tool", row };
}
