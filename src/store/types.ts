// What a store driver is. Drivers are synchronous and run in a worker thread (worker.ts); the rest of the
// daemon sees the asynchronous `Store` of index.ts.
import type { SessionRow } from "../protocol/session.ts";

/** Frames of one session, gapless, as NDJSON (each line ends in \n). */
export interface LogBatch {
  session_id: string;
  first_seq: number;
  last_seq: number;
  bytes: Uint8Array;
}

export interface AppendOrder {
  batches: LogBatch[];
  /** Rows that must become durable together with the batches. */
  rows: SessionRow[];
  /** Wait until the disk has it (turn ends, ledger rows; DESIGN R3). */
  sync: boolean;
}

/** One entry a batch: undefined when it is stored, otherwise why not. A failed batch left nothing behind. */
export type AppendOutcome = (string | undefined)[];

export interface Retention {
  /** 0 switches a limit off. */
  maxAgeMs: number;
  maxRowsPerSession: number;
  maxBytesPerSession: number;
}

export interface PruneCounts {
  sessions: number;
  events: number;
  bytes: number;
}

export interface Driver {
  append(order: AppendOrder): AppendOutcome;
  /**
   * Frames behind `after_seq`, oldest first, about `max_bytes` of them, starting at exactly the first stored
   * frame with seq > after_seq. Undefined when there is none.
   */
  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined;
  loadRow(session_id: string): SessionRow | undefined;
  rows(): SessionRow[];
  saveRow(row: SessionRow): void;
  /** Removes the session's frames and its row. */
  delete(session_id: string): void;
  prune(limits: Retention, nowMs: number): PruneCounts;
  close(): void;
}

/** What a driver found and mended when it was opened; logged by the daemon. */
export interface Recovery {
  session_id: string;
  kept_seq: number;
  cut_bytes: number;
  /** Where the cut bytes were put. */
  aside?: string;
}

export interface StoreConfig {
  kind: "sqlite" | "jsonl";
  /** The database file, or the directory of the JSONL files. */
  path: string;
}

/** The asynchronous face. `memory` stores answer `durable: false` and keep nothing. */
export interface Store {
  readonly durable: boolean;
  append(order: AppendOrder): Promise<AppendOutcome>;
  read(session_id: string, after_seq: number, max_bytes: number): Promise<LogBatch | undefined>;
  loadRow(session_id: string): Promise<SessionRow | undefined>;
  rows(): Promise<SessionRow[]>;
  saveRow(row: SessionRow): Promise<void>;
  delete(session_id: string): Promise<void>;
  prune(limits: Retention): Promise<PruneCounts>;
  close(): Promise<void>;
}
