// What the manager offers about changes, with the answers of a daemon that records none.
import { CodedError, readErrno, toMessage } from "../../base/coded-error.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { ChangesRange } from "../manager-types.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Rewinder } from "./rewind.ts";
import { toNoChanges } from "./show-changes.ts";

const OFF = "checkpoints are turned off (setting `checkpoints`)";

export async function showChangesOf(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: ChangesRange & { limit: number; after?: string },
): Promise<ChangesReply> {
  if (checkpoints === undefined) return toNoChanges(row.session_id, OFF);
  return checkpoints.changes(row, order).catch(explainDisk);
}

/** Throws `change_unknown`, `git_failed`. */
export async function showFileChangesOf(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: ChangesRange & { path: string; path_b64?: string },
): Promise<FileChangesReply> {
  return requireOn(checkpoints).fileChanges(row, order).catch(explainDisk);
}

/** Throws `session_busy`, `change_unknown`, `git_failed`, `undo_failed`. */
export async function undoTurns(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: UndoBody,
  agent: Rewinder,
): Promise<UndoReply> {
  const { session_id, turn } = row;
  if (turn !== undefined && order.dry_run !== true) {
    throw new CodedError(
      "session_busy",
      `session ${session_id} is running a turn; interrupt it or wait, then undo`,
    );
  }
  return requireOn(checkpoints).undo(row, order, agent).catch(explainDisk);
}

function requireOn(checkpoints: Checkpoints | undefined): Checkpoints {
  if (checkpoints === undefined) throw new CodedError("change_unknown", `the session has no changes: ${OFF}`);
  return checkpoints;
}

/** A full disk, a directory that was removed: the caller can do something about it. */
function explainDisk(error: unknown): never {
  if (error instanceof CodedError || readErrno(error) === undefined) throw error;
  const message = `the checkpoints of this session cannot be read or written: ${toMessage(error)}`;
  throw new CodedError("git_failed", message, { cause: error });
}
