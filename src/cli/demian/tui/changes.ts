// File changes of the runtime in the protocol's form, with a unified diff.
import { defined } from "../../../base/values.ts";
import type { FileChange } from "../../../protocol/requests.ts";
import { formatUnifiedDiff } from "../../../runtime/permissions/diff.ts";
import type { FileChange as RuntimeChange } from "../../../runtime/workspace/types.ts";

export function toFileChanges(changes: readonly RuntimeChange[]): FileChange[] {
  return changes.map((change) => ({
    path: change.path,
    kind: change.isDeleted ? "delete" : change.oldText === undefined ? "add" : "update",
    // Without the two header lines: the path has its own field.
    diff: formatUnifiedDiff(change).slice(2).join("\n"),
    ...defined({ move_path: change.movedTo }),
  }));
}
