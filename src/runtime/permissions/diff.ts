// Formats the unified diff of one changed file.
import { diffHunks, formatHunks } from "../../base/diff.ts";
import type { FileChange } from "../workspace/types.ts";

export function formatUnifiedDiff({ path, oldText, newText }: FileChange): string[] {
  const from = oldText === undefined ? "/dev/null" : `a/${path}`;
  return [`--- ${from}`, `+++ b/${path}`, ...formatHunks(diffHunks(oldText ?? "", newText))];
}
