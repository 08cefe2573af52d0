// What the sessions tell the observability database, and what can be asked of it.
import type { Action } from "../protocol/actions.ts";
import type { NotRunReason } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Stats } from "../protocol/stats.ts";

/** The terms of sm#288; `phase` is before, while and after the tool runs. */
export const TOOL_EVENT_TYPES = [
  "request_approval",
  "approval_decision",
  "request_user_input",
  "user_input_submitted",
  "started",
  "output_delta",
  "completed",
  "failed",
  "interrupted",
  "cancelled",
  "timeout",
] as const;
export type ToolEventType = (typeof TOOL_EVENT_TYPES)[number];

export const ITEM_TYPES = ["commandExecution", "fileChange", "tool"] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** `write`: it is not known whether there was a file before. */
export const CHANGE_KINDS = ["add", "overwrite", "update", "delete", "write"] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One row of `tool_events`. */
export interface ToolEvent {
  session_id: string;
  source_provider: string;
  thread_id?: string;
  turn_id?: string;
  item_id?: string;
  request_id?: string;
  event_type: ToolEventType;
  item_type: ItemType;
  phase: "pre" | "running" | "post";
  tool_name?: string;
  command?: string;
  cwd?: string;
  exit_code?: number;
  file_path?: string;
  change_kind?: ChangeKind;
  diff_summary?: string;
  approval_decision?: string;
  /** Of a request: how long it waited. Of a call: how long it ran, without the time it waited for a person. */
  latency_ms?: number;
  final_status?: string;
  /** Present: it was asked for and never ran. */
  not_run?: NotRunReason;
  error_code?: string;
  error_message?: string;
  /** An excerpt, bounded. */
  raw_payload_json?: string;
  created_at_ms: number;
}

/** `message`: what the agent said in the turn, as an excerpt. */
export type TurnEventType =
  | "started"
  | "message"
  | "completed"
  | "failed"
  | "interrupted"
  | "cancelled"
  | "timeout";

/** One row of `turn_events`. */
export interface TurnEvent {
  session_id: string;
  source_provider: string;
  thread_id?: string;
  /** Absent on what an agent says outside of a turn. */
  turn_id?: string;
  event_type: TurnEventType;
  origin?: "user" | "agent";
  duration_ms?: number;
  /** How much of that it waited for people. */
  waited_ms?: number;
  time_to_first_token_ms?: number;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  final_status?: string;
  error_code?: string;
  error_message?: string;
  raw_payload_json?: string;
  created_at_ms: number;
}

export interface RowsFilter {
  session_id?: string;
  /** Newest first; at most so many. */
  limit: number;
}

export interface StatsQuery {
  /** What ended before is left out. */
  since_ms: number;
  session_id?: string;
  /** Of each list, the newest. */
  limit: number;
}

/** `backend` is the name that the rows have it by; what nobody saw end has no end. */
export type ObservedStats = Omit<Stats, "since_ms" | "until_ms">;

/** The ear of observability on the one path of events. Nothing here waits or throws. */
export interface Observer {
  /** Every frame that a session publishes, in order, with its row as it is at that moment. */
  frame(session: SessionRow, frame: object): void;
  /** Every step of a row of the ledger that was stored. */
  request(row: RequestRow): void;
  /** Resolves when `lastAction` also knows what an earlier daemon saw, or cannot. */
  warm(): Promise<void>;
  /** What the session did last, without asking the database. */
  lastAction(session_id: string): Action | undefined;
  /** Newest first. */
  actions(filter: RowsFilter): Promise<Action[]>;
  toolEvents(filter: RowsFilter): Promise<ToolEvent[]>;
  turnEvents(filter: RowsFilter): Promise<TurnEvent[]>;
  stats(query: StatsQuery): Promise<ObservedStats>;
  /** The session's history is deleted. */
  forget(session_id: string): void;
  /** Writes what waits and closes the database. */
  close(): Promise<void>;
}
