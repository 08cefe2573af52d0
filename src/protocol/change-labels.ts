// Labels for file changes. Has no schemas, so that screens can use it without loading zod.
import type { FileChange } from "./requests.ts";

const LABELS: Readonly<Record<FileChange["kind"], string>> = {
  add: "new file",
  overwrite: "overwrite",
  update: "edit",
  delete: "delete",
};
const VERBS: Readonly<Record<FileChange["kind"], string>> = {
  add: "create",
  overwrite: "overwrite",
  update: "edit",
  delete: "delete",
};

/** "new file", "overwrite", "edit", "rename", "rename and edit", "delete". */
export function getChangeLabel(change: Pick<FileChange, "kind" | "move_path" | "diff">): string {
  return findRename(change) ?? LABELS[change.kind] ?? change.kind;
}

/** The same as a verb: "create", "overwrite", "edit", "rename", "rename and edit", "delete". */
export function getChangeVerb(change: Pick<FileChange, "kind" | "move_path" | "diff">): string {
  return findRename(change) ?? VERBS[change.kind] ?? change.kind;
}

/** "new file a.ts, edit b.ts, rename c.ts → d.ts". */
export function formatChanges(changes: readonly FileChange[]): string {
  return changes
    .map((change) => {
      const to = change.move_path === undefined ? "" : ` → ${change.move_path}`;
      return `${getChangeLabel(change)} ${change.path}${to}`;
    })
    .join(", ");
}

function findRename({ kind, move_path, diff = "" }: Pick<FileChange, "kind" | "move_path" | "diff">) {
  if (kind !== "update" || move_path === undefined) return undefined;
  return /^[+-]/m.test(diff) ? "rename and edit" : "rename";
}
