// What the manager offers about changes, with the answers of a daemon that records none.
import { CodedError } from "../../base/coded-error.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { ChangesRange } from "../manager-types.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { toNoChanges } from "./show-changes.ts";

const OFF = "checkpoints are turned off (setting `checkpoints`)";
const NOT_REWOUND = "the agent still remembers these turns; say in the next message that they were undone";

export async function showChangesOf(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: ChangesRange & { limit: number; after?: string },
): Promise<ChangesReply> {
  return checkpoints === undefined ? toNoChanges(row.session_id, OFF) : checkpoints.changes(row, order);
}

/** Throws `change_unknown`, `git_failed`. */
export async function showFileChangesOf(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: ChangesRange & { path: string; path_b64?: string },
): Promise<FileChangesReply> {
  return requireOn(checkpoints).fileChanges(row, order);
}

/** Throws `session_busy`, `change_unknown`, `git_failed`, `undo_failed`. */
export async function undoTurns(
  checkpoints: Checkpoints | undefined,
  row: SessionRow,
  order: UndoBody,
): Promise<UndoReply> {
  const { session_id, turn } = row;
  if (turn !== undefined && order.dry_run !== true) {
    throw new CodedError(
      "session_busy",
      `session ${session_id} is running a turn; interrupt it or wait, then undo`,
    );
  }
  const undone = await requireOn(checkpoints).undo(row, order);
  return { ...undone, conversation: { rewound: false, reason: NOT_REWOUND } };
}

function requireOn(checkpoints: Checkpoints | undefined): Checkpoints {
  if (checkpoints === undefined) throw new CodedError("change_unknown", `the session has no changes: ${OFF}`);
  return checkpoints;
}
