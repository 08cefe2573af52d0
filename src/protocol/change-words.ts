// What a change does to its file, in words. Free of schemas, so that screens can use it without loading zod.
import type { FileChange } from "./requests.ts";

const CHANGE_WORDS: Readonly<Record<FileChange["kind"], string>> = {
  add: "new file",
  overwrite: "overwrite",
  update: "edit",
  delete: "delete",
};

export function changeWord(kind: FileChange["kind"]): string {
  return CHANGE_WORDS[kind] ?? kind;
}

/** "new file a.ts, edit b.ts". */
export function changesText(changes: readonly Pick<FileChange, "kind" | "path">[]): string {
  return changes.map(({ kind, path }) => `${changeWord(kind)} ${path}`).join(", ");
}
