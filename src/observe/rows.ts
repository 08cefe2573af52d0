// What the reducer makes and a keeper of rows takes, in the order in which it happened.
import type { ObservedStats, StatsQuery, ToolEvent, TurnEvent } from "./types.ts";

export type EventRow = { kind: "tool"; row: ToolEvent } | { kind: "turn"; row: TurnEvent };

/** How the calls of a turn end that nobody saw end: the daemon died in the middle of it. */
export interface TurnCut {
  session_id: string;
  turn_id: string;
  error_code: string;
  error_message: string;
  created_at_ms: number;
}

export type Row =
  | EventRow
  | { kind: "cut"; row: TurnCut }
  /** Nothing of the session up to here is kept. */
  | { kind: "forget"; row: { session_id: string } };

/** A row that is stored. The ids of both tables are one sequence. */
export type StoredRow = EventRow & { id: number };

export interface RowQuery {
  kind?: EventRow["kind"];
  session_id?: string;
  limit: number;
  /** Only rows with a smaller id. */
  before?: number;
}

/** For the thread that has the database. */
export interface StatsOrder extends StatsQuery {
  unstored: readonly EventRow[];
}

export interface Retention {
  /** 0 switches a limit off. */
  maxAgeMs: number;
  maxToolRows: number;
  maxTurnRows: number;
}

export interface PruneCounts {
  tool: number;
  turn: number;
}

/** Keeps rows, on disk or in memory. */
export interface Rows {
  /** Never waits and never throws. */
  add(row: Row): void;
  /** Newest first. `id` is absent for what is not stored yet; that comes before what is. */
  page(query: RowQuery): Promise<(EventRow & { id?: number })[]>;
  /** The newest few rows of every session, oldest first. */
  newest(): Promise<EventRow[][]>;
  stats(query: StatsQuery): Promise<ObservedStats>;
  close(): Promise<void>;
}
