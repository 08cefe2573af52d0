// Labels for file changes. Has no schemas, so that screens can use it without loading zod.
import type { FileChange } from "./requests.ts";

const LABELS: Readonly<Record<FileChange["kind"], string>> = {
  add: "new file",
  overwrite: "overwrite",
  update: "edit",
  delete: "delete",
};

export function getChangeLabel(kind: FileChange["kind"]): string {
  return LABELS[kind] ?? kind;
}

/** "new file a.ts, edit b.ts". */
export function formatChanges(changes: readonly Pick<FileChange, "kind" | "path">[]): string {
  return changes.map(({ kind, path }) => `${getChangeLabel(kind)} ${path}`).join(", ");
}
