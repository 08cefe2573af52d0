// What crosses between the daemon and its store thread: one call in, one reply out; and the `Store` made of it.
import { CodedError, messageOf } from "../base/coded-error.ts";
import type { JournalEnd } from "./journal/types.ts";
import type { Driver, LogBatch, Recovery, Store, StoreConfig } from "./types.ts";

export type Op = keyof Driver;
export type Args<K extends Op> = Parameters<Driver[K]>;
export type Result<K extends Op> = ReturnType<Driver[K]>;

export interface StoreCall {
  id: number;
  /** `fold` only moves the journal on. */
  op: Op | "fold";
  args: unknown[];
  /** The journal's records up to here are moved into the database before the call is answered. */
  journal?: JournalEnd;
}

export interface StoreReply {
  /** 0 is the answer to the thread's start. */
  id: number;
  value?: unknown;
  fault?: { code: string; message: string };
  recoveries?: Recovery[];
  /** Why the journal's records could not be moved. */
  unfolded?: string;
}

/** The value of answer 0. */
export interface ThreadReady {
  /** The first journal file that may be written; absent for a driver that has no journal. */
  firstJournal?: number;
}

/** What the thread is started with. */
export interface ThreadStart {
  store: StoreConfig;
}

export type Caller = <K extends Op>(op: K, args: Args<K>) => Promise<Result<K>>;

export function perform(driver: Driver, op: Op, args: unknown[]): unknown {
  return (driver[op] as (...args: unknown[]) => unknown).apply(driver, args);
}

export function createStore(call: Caller, close: () => Promise<void>): Store {
  return {
    durable: true,
    append: (order) => call("append", [order]),
    read: (session_id, after_seq, max_bytes) => call("read", [session_id, after_seq, max_bytes]),
    earliest: (session_id) => call("earliest", [session_id]),
    loadRow: (session_id) => call("loadRow", [session_id]),
    highestSeq: (session_id) => call("highestSeq", [session_id]),
    rows: () => call("rows", []),
    saveRow: (row) => call("saveRow", [row]),
    requests: (filter) => call("requests", [filter]),
    request: (session_id, request_id) => call("request", [session_id, request_id]),
    delete: (session_id) => call("delete", [session_id]),
    prune: (limits) => call("prune", [limits, Date.now()]),
    close,
  };
}

export function toFault(error: unknown): { code: string; message: string } {
  return { code: error instanceof CodedError ? error.code : "internal", message: messageOf(error) };
}

/** What a call gave, or throws its fault. */
export function takeValue({ value, fault }: StoreReply): unknown {
  if (fault !== undefined) throw new CodedError(fault.code, fault.message);
  return value;
}

/** The memory of an answer that may move to the other thread instead of being copied. */
export function movable(op: StoreCall["op"], value: unknown): ArrayBuffer[] {
  if (op !== "read" || value === undefined) return [];
  return [(value as LogBatch).bytes.buffer as ArrayBuffer];
}
