// Changes of files as screens show them: with their unified diff.
import type { FileChange } from "../../../protocol/requests.ts";
import { unifiedDiff } from "../../../runtime/permissions/diff.ts";
import type { FileChange as RuntimeChange } from "../../../runtime/workspace/types.ts";

export function changesOf(changes: readonly RuntimeChange[]): FileChange[] {
  return changes.map((change) => ({
    path: change.path,
    kind: change.oldText === undefined ? "add" : "update",
    // The two lines before it name the file, which has a field of its own.
    diff: unifiedDiff(change).slice(2).join("\n"),
  }));
}
