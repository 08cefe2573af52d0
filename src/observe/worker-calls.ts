// Messages between the daemon and the observability thread: one reply per call, in order.
import type { MovedAside } from "../base/sqlite/database.ts";
import type { Exported, ExportOrder } from "./export/post.ts";
import type { PruneCounts, Retention, Row, RowQuery, StatsOrder, StoredRow, UsageOrder } from "./rows.ts";
import type {
  Candidate,
  FindOrder,
  IndexedUpTo,
  IndexOrder,
  TranscriptOrder,
  TranscriptPosition,
} from "./search/types.ts";
import type { ObservedStats, ObservedUsage } from "./types.ts";

export interface Ops {
  write: { order: readonly Row[]; reply: { refused: number } };
  page: { order: RowQuery; reply: StoredRow[] };
  newest: { order: readonly string[]; reply: StoredRow[][] };
  stats: { order: StatsOrder; reply: ObservedStats };
  usage: { order: UsageOrder; reply: ObservedUsage };
  prune: { order: Retention; reply: PruneCounts };
  /** Not in order: other calls do not wait for the collector. */
  export: { order: ExportOrder; reply: Exported };
  /** The rest is about search.db. */
  index: { order: IndexOrder; reply: IndexedUpTo };
  find: { order: FindOrder; reply: Candidate[] };
  positions: { order: undefined; reply: IndexedUpTo[] };
  index_transcript: { order: TranscriptOrder; reply: undefined };
  transcripts: { order: undefined; reply: TranscriptPosition[] };
  remove: { order: { session_id: string; before_seq?: number }; reply: undefined };
  tidy: { order: undefined; reply: boolean };
  close: { order: undefined; reply: undefined };
}
export type Op = keyof Ops;

export interface WorkerStart {
  path: string;
  searchPath: string;
}

export interface WorkerCall {
  id: number;
  op: Op;
  order: unknown;
}

export interface WorkerReply {
  id: number;
  value?: unknown;
  fault?: string;
  /** Damaged files moved aside since the last reply. */
  asides?: MovedAside[];
}
