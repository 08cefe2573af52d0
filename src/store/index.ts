// The public interface of the store.
export { openInProcessStore } from "./in-process.ts";
export { createLateStore } from "./late.ts";
export { type Losses, openLosses } from "./losses.ts";
export { createMemoryStore } from "./memory.ts";
export { openThreadStore, type PreparedStore, prepareThreadStore } from "./thread.ts";
export type {
  AppendOrder,
  AppendOutcome,
  Kin,
  LogBatch,
  PruneCounts,
  Recovery,
  RequestFilter,
  Retention,
  RowFilter,
  RowPlace,
  RuleUses,
  SessionRunMark,
  Store,
  StoreConfig,
  StoreOptions,
} from "./types.ts";
