// Formats the unified diff of one changed file.
import { diffHunks, formatHunks } from "../../base/diff.ts";
import type { FileChange } from "../workspace/types.ts";

export function formatUnifiedDiff({ path, oldText, newText, isDeleted, movedTo }: FileChange): string[] {
  const from = oldText === undefined ? "/dev/null" : `a/${path}`;
  const to = isDeleted ? "/dev/null" : `b/${movedTo ?? path}`;
  return [`--- ${from}`, `+++ ${to}`, ...formatHunks(diffHunks(oldText ?? "", newText))];
}
