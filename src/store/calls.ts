// Messages between the daemon and its store thread, one reply per call, and the `Store` built on them.
import { CodedError, toMessage } from "../base/coded-error.ts";
import type { JournalEnd } from "./journal/types.ts";
import type { Driver, LogBatch, PruneCounts, PruneStep, Recovery, Store, StoreConfig } from "./types.ts";

export type Op = keyof Driver;
export type Args<K extends Op> = Parameters<Driver[K]>;
export type Result<K extends Op> = ReturnType<Driver[K]>;

export interface StoreCall {
  id: number;
  /**
   * `fold` only moves the journal into the database; `export` then writes the JSONL files of the sessions in `args`; `open`
   * is the first call to a thread that was held, with the store's configuration.
   */
  op: Op | "fold" | "export" | "open";
  args: unknown[];
  /** Journal records up to here are moved into the database before the call is answered. */
  journal?: JournalEnd;
}

export interface StoreReply {
  /** 0 when the thread has started; -1 when it only reports recoveries. */
  id: number;
  value?: unknown;
  fault?: { code: string; message: string };
  recoveries?: Recovery[];
  /** Why the journal's records could not be moved. */
  unfolded?: string;
}

/** The value of reply 0. */
export interface ThreadReady {
  /** The number of the first journal file that may be written. */
  firstJournal: number;
}

/** The thread's `workerData`. Without `store` it is held: it loads its code, and touches no file before the call `open`. */
export interface ThreadStart {
  store?: StoreConfig;
}

export type Caller = <K extends Op>(op: K, args: Args<K>) => Promise<Result<K>>;

export function perform(driver: Driver, op: Op, args: unknown[]): unknown {
  return (driver[op] as (...args: unknown[]) => unknown).apply(driver, args);
}

export function createStore(call: Caller, close: () => Promise<void>, now: () => number = Date.now): Store {
  return {
    durable: true,
    append: (order) => call("append", [order]),
    read: (session_id, after_seq, max_bytes) => call("read", [session_id, after_seq, max_bytes]),
    earliest: (session_id) => call("earliest", [session_id]),
    loadRow: (session_id) => call("loadRow", [session_id]),
    highestSeq: (session_id) => call("highestSeq", [session_id]),
    rows: (filter) => call("rows", [filter]),
    countRows: () => call("countRows", []),
    kin: (session_ids) => call("kin", [session_ids]),
    saveRow: (row) => call("saveRow", [row]),
    requests: (filter) => call("requests", [filter]),
    request: (session_id, request_id) => call("request", [session_id, request_id]),
    ruleUses: () => call("ruleUses", []),
    runMarks: (session_ids) => call("runMarks", [session_ids]),
    delete: (session_id) => call("delete", [session_id]),
    prune: (limits) => pruneAll((after) => call("prune", [limits, now(), after])),
    close,
  };
}

/** Other calls are answered between the steps. */
async function pruneAll(step: (after: string | undefined) => Promise<PruneStep>): Promise<PruneCounts> {
  const counts: PruneCounts = { sessions: 0, events: 0, bytes: 0, over_total: 0 };
  for (let after: string | undefined; ; ) {
    const { next, ...gone } = await step(after);
    for (const name of ["sessions", "events", "bytes", "over_total"] as const) counts[name] += gone[name];
    if (next === undefined) return counts;
    after = next;
  }
}

export function toFault(error: unknown): { code: string; message: string } {
  return { code: error instanceof CodedError ? error.code : "internal", message: toMessage(error) };
}

/** Returns the value of a reply, or throws its fault. */
export function takeValue({ value, fault }: StoreReply): unknown {
  if (fault !== undefined) throw new CodedError(fault.code, fault.message);
  return value;
}

/** Buffers of a reply that can be transferred to the other thread instead of copied. */
export function listTransfers(op: StoreCall["op"], value: unknown): ArrayBuffer[] {
  if (op !== "read" || value === undefined) return [];
  return [(value as LogBatch).bytes.buffer as ArrayBuffer];
}
