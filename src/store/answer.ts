// Answers one call in the store thread: first moves the journal into the database, then performs the call. Never throws.
import { perform, type StoreCall, type StoreReply, toFault } from "./calls.ts";
import type { OpenDriver } from "./driver.ts";
import type { PruneStep } from "./types.ts";

/** Answered from what is stored even if the journal could not be moved. */
const TOLERANT = new Set<StoreCall["op"]>(["read", "earliest", "rows", "countRows", "kin", "close"]);
const MAY_BE_UNFOLDED = new Set<StoreCall["op"]>(["read", "earliest"]);

export function answer(open: OpenDriver, call: StoreCall): StoreReply {
  const { id, journal } = call;
  const unfolded = journal === undefined ? undefined : open.folder.fold(journal);
  try {
    const value = serve(open, call, unfolded);
    return unfolded === undefined ? { id, value } : { id, value, unfolded };
  } catch (error) {
    open.folder.noteDamage(error);
    return { id, fault: toFault(error), ...(unfolded !== undefined && { unfolded }) };
  }
}

function serve({ driver, folder, jsonl }: OpenDriver, { op, args }: StoreCall, unfolded?: string): unknown {
  if (op === "fold" || op === "open") return undefined;
  if (op === "export") return jsonl?.flush(args as string[]);
  if (unfolded !== undefined && !TOLERANT.has(op)) throw new Error(unfolded);
  if (op === "close") {
    folder.close();
    jsonl?.close();
  }
  const value = perform(driver, op, args);
  // Nothing stored after this seq, but the journal may have it: that is not the same as "none".
  if (unfolded !== undefined && MAY_BE_UNFOLDED.has(op) && value === undefined) throw new Error(unfolded);
  if (op === "delete") {
    // A synced append that follows is in the journal; deleted frames must not come back in front of it.
    folder.sync();
    jsonl?.flush([args[0] as string]);
  }
  if (op === "prune" && (value as PruneStep).next === undefined) jsonl?.checkAll();
  return value;
}
