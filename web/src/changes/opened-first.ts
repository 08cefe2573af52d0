// Which files are open when a list is shown: few short changes.
import type { ChangedFile } from "../../../src/protocol/changes.ts";

const MAX_FILES = 6;
const MAX_LINES = 300;

/** Generated files are opened by hand only. */
export function listOpenedFirst(files: readonly ChangedFile[]): readonly ChangedFile[] {
  if (files.length > MAX_FILES) return [];
  return files.filter(
    ({ generated, additions = 0, deletions = 0 }) => !generated && additions + deletions <= MAX_LINES,
  );
}
