// Answers one call in the store thread: first what the journal holds, then the call itself. Never throws.
import { perform, type StoreCall, type StoreReply, toFault } from "./calls.ts";
import type { OpenDriver } from "./driver.ts";

/** These answer with what is stored when the journal could not be moved; a read beyond that still fails. */
const TOLERANT = new Set<StoreCall["op"]>(["read", "earliest", "rows", "close"]);
const MAY_BE_UNFOLDED = new Set<StoreCall["op"]>(["read", "earliest"]);

export function answer(open: OpenDriver, call: StoreCall): StoreReply {
  const { id, journal } = call;
  const unfolded = journal === undefined ? undefined : open.folder?.fold(journal);
  try {
    const value = serve(open, call, unfolded);
    return unfolded === undefined ? { id, value } : { id, value, unfolded };
  } catch (error) {
    return { id, fault: toFault(error), ...(unfolded !== undefined && { unfolded }) };
  }
}

function serve({ driver, folder }: OpenDriver, { op, args }: StoreCall, unfolded?: string): unknown {
  if (op === "fold") return undefined;
  if (unfolded !== undefined && !TOLERANT.has(op)) throw new Error(unfolded);
  if (op === "close") folder?.close();
  const value = perform(driver, op, args);
  // Nothing stored (behind this seq), but the journal may have it: not the same as "there is none".
  if (unfolded !== undefined && MAY_BE_UNFOLDED.has(op) && value === undefined) throw new Error(unfolded);
  // A synced append that follows stands in the journal; it must not come to stand behind frames that came back.
  if (op === "delete") folder?.sync();
  return value;
}
