// Messages between the daemon and the observability thread: one reply per call, in order.
import type { MovedAside } from "../base/sqlite/database.ts";
import type { PruneCounts, Retention, Row, RowQuery, StatsOrder, StoredRow } from "./rows.ts";
import type { ObservedStats } from "./types.ts";

export interface Ops {
  write: { order: readonly Row[]; reply: { refused: number } };
  page: { order: RowQuery; reply: StoredRow[] };
  newest: { order: readonly string[]; reply: StoredRow[][] };
  stats: { order: StatsOrder; reply: ObservedStats };
  prune: { order: Retention; reply: PruneCounts };
  close: { order: undefined; reply: undefined };
}
export type Op = keyof Ops;

export interface WorkerStart {
  path: string;
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
