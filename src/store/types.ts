// What a store driver is. Drivers are synchronous and run in a worker thread (worker.ts); the rest of the
// daemon sees the asynchronous `Store` of index.ts.
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { SeqMarks } from "./seq-marks.ts";

/** Frames of one session, gapless, as NDJSON (each line ends in \n). */
export interface LogBatch {
  session_id: string;
  first_seq: number;
  last_seq: number;
  bytes: Uint8Array;
  /** When what begins at `first_seq` was stored, oldest first; from `read` only, and only where the store keeps times. */
  stamps?: { first_seq: number; at_ms: number }[];
}

export interface AppendOrder {
  batches: LogBatch[];
  /** Rows that must become durable together with the batches. */
  rows: SessionRow[];
  /** Rows of the ledger, new or changed, that must become durable together with the batches. */
  requests?: RequestRow[];
  /** Wait until the disk has it (turn ends, ledger rows; DESIGN R3). */
  sync: boolean;
}

/**
 * One entry a batch, then one a row, then one a request: undefined when it is stored, otherwise why not. A failed
 * batch left nothing behind. A row or request is stored with the last batch of its session, and fails with it.
 */
export type AppendOutcome = (string | undefined)[];

/** The newest frame of a session always survives, so that its `seq` goes on. Rows are never pruned. */
export interface Retention {
  /** 0 switches a limit off. */
  maxAgeMs: number;
  maxRowsPerSession: number;
  maxBytesPerSession: number;
  /** Of all sessions: past it the oldest frames go first, but not those of a running turn or from an open request on. */
  maxTotalBytes: number;
}

/** Which rows of the ledger; an empty one gives all. */
export interface RequestFilter {
  session_id?: string;
  /** Only those that are not settled (protocol/requests.ts, `isSettled`). */
  open?: boolean;
  /** Only those behind this one, in the order of the answer. */
  after?: { requested_at_ms: number; request_id: string };
  /** At most so many. */
  limit?: number;
}

/** `sessions` counts those that lost frames; `over_total` is how many of the events went because of the total. */
export interface PruneCounts {
  sessions: number;
  events: number;
  bytes: number;
  over_total: number;
}

/** Every method but `append` may throw; `append` answers with outcomes. */
export interface Driver {
  /** A batch whose `first_seq` is not the last stored seq + 1 is refused: the log has no gap and no duplicate. */
  append(order: AppendOrder): AppendOutcome;
  /**
   * Frames behind `after_seq`, oldest first, about `max_bytes` of them, starting at exactly the first stored
   * frame with seq > after_seq. Undefined when there is none.
   */
  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined;
  /** The seq of the oldest stored frame; undefined when there is none. */
  earliest(session_id: string): number | undefined;
  /**
   * `last_seq` of a row that comes back is what the log really ends with, or the highest seq that was given out if
   * the log has lost its end: the next append must be the seq behind it. A log without a row gives a row of defaults.
   */
  loadRow(session_id: string): SessionRow | undefined;
  /** The highest seq that was ever given out for the session, also when nothing else is left of it; 0 for none. */
  highestSeq(session_id: string): number;
  /** Rows as `loadRow` gives them, the most recently active first; a log without a row is not listed. */
  rows(): SessionRow[];
  saveRow(row: SessionRow): void;
  /** Rows of the ledger, oldest first. Settled ones older than the retention age are pruned. */
  requests(filter: RequestFilter): RequestRow[];
  request(session_id: string, request_id: string): RequestRow | undefined;
  /** Removes the session's frames, its row and its requests. */
  delete(session_id: string): void;
  prune(limits: Retention, nowMs: number): PruneCounts;
  close(): void;
}

/** What a driver found and mended, at the start or when a session is first touched; logged by the daemon. */
export interface Recovery {
  /** Absent when it is not about one session. */
  session_id?: string;
  kept_seq: number;
  cut_bytes: number;
  /** Where the cut bytes were put. */
  aside?: string;
  /** What happened, where the fields do not say it. */
  message?: string;
}

export interface DriverOptions {
  /** What was given out in earlier lives; absent: the log is trusted. */
  marks?: SeqMarks | undefined;
  onRecovery(recovery: Recovery): void;
  now(): number;
}

export interface StoreConfig {
  kind: "sqlite" | "jsonl";
  /** The database file, or the directory of the JSONL files. */
  path: string;
  /** The file of the highest seqs that were given out (seq-marks.ts); absent: none is kept. */
  marks?: string;
}

export interface StoreOptions {
  onRecovery?: (recovery: Recovery) => void;
}

/** The asynchronous face. `memory` stores answer `durable: false` and keep only the ledger, while they live. */
export interface Store {
  readonly durable: boolean;
  append(order: AppendOrder): Promise<AppendOutcome>;
  read(session_id: string, after_seq: number, max_bytes: number): Promise<LogBatch | undefined>;
  earliest(session_id: string): Promise<number | undefined>;
  loadRow(session_id: string): Promise<SessionRow | undefined>;
  highestSeq(session_id: string): Promise<number>;
  rows(): Promise<SessionRow[]>;
  saveRow(row: SessionRow): Promise<void>;
  requests(filter: RequestFilter): Promise<RequestRow[]>;
  request(session_id: string, request_id: string): Promise<RequestRow | undefined>;
  delete(session_id: string): Promise<void>;
  prune(limits: Retention): Promise<PruneCounts>;
  close(): Promise<void>;
}
