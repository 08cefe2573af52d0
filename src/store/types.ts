// The store's contracts: the synchronous `Driver`, which runs in a worker thread, and the asynchronous `Store` that the
// rest of the daemon uses.
import type { RunMark } from "../base/runs/mark.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";

/** The mark stored with the newest batch of a session that had one. */
export interface SessionRunMark extends RunMark {
  session_id: string;
}

/** Frames of one session, gapless, as NDJSON (each line ends in \n). */
export interface LogBatch {
  session_id: string;
  first_seq: number;
  last_seq: number;
  bytes: Uint8Array;
  /** When the frames from `first_seq` on were stored, oldest first. Only in results of `read`. */
  stamps?: { first_seq: number; at_ms: number }[];
  /** Stored with the frames, or not at all, like them. Only in appends; without it the session keeps its mark. */
  run?: RunMark;
}

export interface AppendOrder {
  batches: LogBatch[];
  /** Rows that must become durable together with the batches. */
  rows: SessionRow[];
  /** Rows of the ledger, new or changed, that must become durable together with the batches. */
  requests?: RequestRow[];
  /** Wait until it is synced to disk: turn ends and ledger rows. */
  sync: boolean;
}

/**
 * One entry per batch, then per row, then per request: undefined if stored, otherwise the reason. Nothing of a failed
 * batch is stored. A row or request is stored with the last batch of its session, and fails with it.
 */
export type AppendOutcome = (string | undefined)[];

/** The newest frame of a session is always kept, so that `seq` continues. Rows are never pruned. */
export interface Retention {
  /** 0 disables a limit. */
  maxAgeMs: number;
  maxRowsPerSession: number;
  maxBytesPerSession: number;
  /** Of all sessions. The oldest frames go first, except those of a running turn or since an open request. */
  maxTotalBytes: number;
}

/** A row's position in the order of all rows: most recently active first. */
export type RowPlace = Pick<SessionRow, "last_active_at_ms" | "started_at_ms" | "session_id">;

/** Selects session rows that have all of these; empty selects all. */
export interface RowFilter {
  ids?: readonly string[];
  /** The agents' own ids. */
  native_ids?: readonly string[];
  /** This session and all its descendants. */
  family?: string;
  /** Only rows with a turn, a queue, wakes or a loss to report: work that a daemon has left. */
  unfinished?: boolean;
  spawn_key?: string;
  /** The start of the id. */
  prefix?: string;
  backend?: string;
  cwd?: string;
  parent?: string;
  name?: string;
  /** Only rows after this one, in result order. */
  after?: RowPlace;
  /** Maximum number of rows. */
  limit?: number;
}

/** A session's relatives, as ids. */
export interface Kin {
  /** Ancestors, nearest first; ends at one that is not stored. */
  above: string[];
  /** Oldest first. */
  children: string[];
}

/** Selects ledger rows; empty selects all. */
export interface RequestFilter {
  session_id?: string;
  /** Only rows that are not settled (`isSettled` in protocol/requests.ts). */
  open?: boolean;
  /** Only rows after this one, in result order. */
  after?: { requested_at_ms: number; request_id: string };
  /** Maximum number of rows. */
  limit?: number;
  /** The newest rows first, instead of the oldest. Without other conditions. */
  newest?: boolean;
}

/** How often a policy rule has answered a request, also for requests that were deleted since. */
export interface RuleUses {
  rule_id: string;
  uses: number;
  last_used_at_ms: number;
}

/** `sessions` counts sessions that lost frames; `over_total` counts events removed because of `maxTotalBytes`. */
export interface PruneCounts {
  sessions: number;
  events: number;
  bytes: number;
  over_total: number;
}

/** A part of a pass: `next` continues it. */
export interface PruneStep extends PruneCounts {
  next?: string;
}

/** Every method except `append` may throw; `append` returns outcomes. */
export interface Driver {
  /** Rejects a batch whose `first_seq` is not the last stored seq + 1: the log has no gaps and no duplicates. */
  append(order: AppendOrder): AppendOutcome;
  /**
   * Frames after `after_seq`, oldest first, about `max_bytes`, starting with exactly the first stored frame whose
   * seq > after_seq. Undefined if there is none.
   */
  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined;
  /** The seq of the oldest stored frame. */
  earliest(session_id: string): number | undefined;
  /**
   * The row's `last_seq` is the actual end of the log, or the highest seq given out if the log has lost its end: the
   * next append must start right after it. A log without a row gives a row of defaults.
   */
  loadRow(session_id: string): SessionRow | undefined;
  /** The highest seq ever given out for the session, even if nothing else is left of it; 0 if none. */
  highestSeq(session_id: string): number;
  /** Rows as from `loadRow`, most recently active first. A log without a row is not listed. */
  rows(filter?: RowFilter): SessionRow[];
  /** Number of rows by backend. */
  countRows(): Record<string, number>;
  /** The relatives of each session, which need not be stored itself. */
  kin(session_ids: readonly string[]): Kin[];
  saveRow(row: SessionRow): void;
  /** Ledger rows, oldest first. Settled ones older than the retention age are pruned. */
  requests(filter: RequestFilter): RequestRow[];
  request(session_id: string, request_id: string): RequestRow | undefined;
  /** Counted in the append that stores a row with a `rule_id` for the first time. */
  ruleUses(): RuleUses[];
  /** The marks of these sessions, where there is one, in the order of the ids. */
  runMarks(session_ids: readonly string[]): SessionRunMark[];
  /** Removes the session's frames, its row, its requests and its run mark. */
  delete(session_id: string): void;
  /** Looks at some sessions, those after `after`, so that other calls never wait long. */
  prune(limits: Retention, nowMs: number, after?: string): PruneStep;
  close(): void;
}

/** A repair, an import, or a change of the export's state; logged by the daemon. */
export interface Recovery {
  /** Absent: something was repaired. */
  event?: "imported" | "export_failed" | "export_resumed";
  /** Absent if it is not about one session. */
  session_id?: string;
  kept_seq: number;
  cut_bytes: number;
  /** The file that holds the removed bytes. */
  aside?: string;
  /** What happened, if the fields do not say it. */
  message?: string;
}

export interface DriverOptions {
  onRecovery(recovery: Recovery): void;
  now(): number;
}

export interface JsonlConfig {
  dir: string;
  /** Seq marks of versions in which the files were the store; merged into `marks` once. */
  oldMarks?: string;
}

export interface StoreConfig {
  /** The database file. */
  path: string;
  /** The file of the highest seqs that were given out (seq-marks.ts); absent: none is kept. */
  marks?: string;
  /** Also writes the log as JSONL files, and imports those it does not know. */
  jsonl?: JsonlConfig;
}

export interface StoreOptions {
  onRecovery?: (recovery: Recovery) => void;
  /** Called after frames were moved into the database, with the number of bytes since the start. */
  onFolded?: ((bytes: number) => void) | undefined;
}

/** The store as the daemon sees it. A memory store has `durable: false` and keeps only the ledger. */
export interface Store {
  readonly durable: boolean;
  /** The outcome itself if it is known at once: nothing has to be synced, and nothing else is in progress. */
  append(order: AppendOrder): AppendOutcome | Promise<AppendOutcome>;
  read(session_id: string, after_seq: number, max_bytes: number): Promise<LogBatch | undefined>;
  earliest(session_id: string): Promise<number | undefined>;
  loadRow(session_id: string): Promise<SessionRow | undefined>;
  highestSeq(session_id: string): Promise<number>;
  rows(filter?: RowFilter): Promise<SessionRow[]>;
  countRows(): Promise<Record<string, number>>;
  kin(session_ids: readonly string[]): Promise<Kin[]>;
  saveRow(row: SessionRow): Promise<void>;
  requests(filter: RequestFilter): Promise<RequestRow[]>;
  request(session_id: string, request_id: string): Promise<RequestRow | undefined>;
  ruleUses(): Promise<RuleUses[]>;
  runMarks(session_ids: readonly string[]): Promise<SessionRunMark[]>;
  delete(session_id: string): Promise<void>;
  prune(limits: Retention): Promise<PruneCounts>;
  close(): Promise<void>;
}
