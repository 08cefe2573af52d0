// Deletes one session: its agent, its row and its history.
import { CodedError } from "../base/coded-error.ts";
import type { Store } from "../store/types.ts";
import type { SessionHooks } from "./hooks.ts";
import type { SessionTable } from "./table.ts";

/** `by`: the session whose agent asked for it; absent for a user. Throws `store_failed`; then it stays. */
export async function removeSession(
  session_id: string,
  by: string | undefined,
  { table, store, removed }: { table: SessionTable; store: Store; removed: SessionHooks["onRemoved"] },
): Promise<void> {
  const row = await table.find(session_id);
  const isAtWork = row !== undefined && table.isAtWork(row);
  const erase = () => {
    return store.delete(session_id).catch((cause: unknown) => {
      throw new CodedError("store_failed", "could not be stored; the session was not deleted", {
        cause,
      });
    });
  };
  try {
    await table.erase(session_id, "deleted", erase);
  } catch (error) {
    // Its agent was stopped, but its queue still has messages.
    void table.revive(session_id).then(
      (session) => session.goOn(),
      () => undefined,
    );
    throw error;
  }
  if (row !== undefined) removed(row, isAtWork, by);
}
