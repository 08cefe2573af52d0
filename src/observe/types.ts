// The rows of the observability database, and the interface that sessions use.
import type { Action } from "../protocol/actions.ts";
import type { NotRunReason } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Stats } from "../protocol/stats.ts";
import type { UsageGroupBy } from "../protocol/usage-report.ts";
import type { Candidate, FindOrder, TranscriptIndex } from "./search/types.ts";
import type { UsageSlice } from "./usage.ts";

/** `phase` is before, while and after the tool runs. */
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

/** `write`: unknown whether the file existed. */
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
  /** Of a request: how long it was pending. Of a call: how long it ran, without pending requests. */
  latency_ms?: number;
  final_status?: string;
  /** Present if the call needed approval and never ran. */
  not_run?: NotRunReason;
  error_code?: string;
  error_message?: string;
  /** An excerpt, bounded. */
  raw_payload_json?: string;
  created_at_ms: number;
}

/** `message`: an excerpt of the agent's text. */
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
  /** Absent on messages outside of a turn. */
  turn_id?: string;
  event_type: TurnEventType;
  origin?: "user" | "agent";
  duration_ms?: number;
  /** The part of that spent waiting for answers. */
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
  /** The root of its family, if it is another session. */
  root_session_id?: string;
  parent_session_id?: string;
  model?: string;
}

export interface RowsFilter {
  session_id?: string;
  /** Maximum number of rows, newest first. */
  limit: number;
}

export interface StatsQuery {
  /** Leaves out what ended earlier. */
  since_ms: number;
  session_id?: string;
  /** Maximum length of each list; the newest are kept. */
  limit: number;
}

/** `backend` is the name in the rows. What was not seen to end has no end. */
export type ObservedStats = Omit<Stats, "since_ms" | "until_ms">;

export interface UsageQuery {
  by: UsageGroupBy;
  from_ms: number;
  /** Exclusive. */
  to_ms: number;
  /** The zone of the days. */
  time_zone: string;
  session_id?: string;
}

export interface ObservedUsage {
  /** Unordered, except days. */
  slices: UsageSlice[];
  /** The end of the first recorded turn. */
  recorded_since_ms?: number;
}

/** Observes the event path. `frame` and `request` never wait and never throw. */
export interface Observer {
  /** Every frame that a session publishes, in order, with its current row. */
  frame(session: SessionRow, frame: object): void;
  /** Every stored change of a ledger row. */
  request(row: RequestRow): void;
  /** A frame or request of an adopted agent that an earlier daemon has observed: learned, not recorded again. */
  recall(session: SessionRow, seen: { frame: object } | { request: RequestRow }): void;
  /** Resolves when `lastAction` has loaded what earlier daemons saw of these sessions, or has failed to. */
  warm(session_ids: readonly string[]): Promise<void>;
  /** The session's last action, from memory. */
  lastAction(session_id: string): Action | undefined;
  /** Newest first. */
  actions(filter: RowsFilter): Promise<Action[]>;
  toolEvents(filter: RowsFilter): Promise<ToolEvent[]>;
  turnEvents(filter: RowsFilter): Promise<TurnEvent[]>;
  stats(query: StatsQuery): Promise<ObservedStats>;
  /** Turns that have ended. */
  usage(query: UsageQuery): Promise<ObservedUsage>;
  /** Texts that have the words of a query. Undefined if no history is kept. */
  findTexts?(order: FindOrder): Promise<{ found: Candidate[]; unindexed: number }>;
  /** The part of the index that is about conversations from outside. Undefined if no history is kept. */
  readonly transcripts?: TranscriptIndex;
  /** Old frames were removed from the history. */
  historyPruned(): void;
  /** Removes all rows of the session. */
  forget(session_id: string): void;
  /** Writes buffered rows and closes the database. */
  close(): Promise<void>;
}
