// The rows that the reducer produces, and the interface of what stores them.
import type { ObservedStats, ObservedUsage, StatsQuery, ToolEvent, TurnEvent, UsageQuery } from "./types.ts";
import type { TurnUsage } from "./usage.ts";

export type EventRow = { kind: "tool"; row: ToolEvent } | { kind: "turn"; row: TurnEvent };

/** Ends the open calls of a turn that was cut by the daemon's death. */
export interface TurnCut {
  session_id: string;
  turn_id: string;
  error_code: string;
  error_message: string;
  created_at_ms: number;
}

export type Row =
  | EventRow
  | { kind: "usage"; row: TurnUsage }
  | { kind: "cut"; row: TurnCut }
  /** Removes all earlier rows of the session. */
  | { kind: "forget"; row: { session_id: string } };

/** A stored row. Both tables share one id sequence. */
export type StoredRow = EventRow & { id: number };

export interface RowQuery {
  kind?: EventRow["kind"];
  session_id?: string;
  limit: number;
  /** Only rows with a smaller id. */
  before?: number;
}

/** A stats query for the database thread. */
export interface StatsOrder extends StatsQuery {
  unstored: readonly EventRow[];
}

/** A usage query for the database thread. */
export interface UsageOrder extends UsageQuery {
  unstored: readonly TurnUsage[];
}

export interface Retention {
  /** 0 disables a limit. */
  maxAgeMs: number;
  maxToolRows: number;
  maxTurnRows: number;
  /** Of what turns used. */
  maxUsageAgeMs?: number;
}

export interface PruneCounts {
  tool: number;
  turn: number;
  usage: number;
}

/** Stores rows, on disk or in memory. */
export interface Rows {
  /** Never waits and never throws. */
  add(row: Row): void;
  /** Newest first. Rows that are not stored yet come first and have no `id`. */
  page(query: RowQuery): Promise<(EventRow & { id?: number })[]>;
  /** The newest few stored rows of each of these sessions, oldest first. */
  newest(session_ids: readonly string[]): Promise<EventRow[][]>;
  stats(query: StatsQuery): Promise<ObservedStats>;
  usage(query: UsageQuery): Promise<ObservedUsage>;
  close(): Promise<void>;
}
