// Changed files and hunks for tests, from a short notation.
import type { ChangedFile, ChangesReply, FileChangesReply, Hunk } from "../../../src/protocol/changes.ts";

const KINDS = { " ": "context", "+": "add", "-": "delete" } as const;

/** Lines after their sign; `\\` after a line: it has no newline. */
export function aHunk(lines: readonly string[], start = 1, section?: string): Hunk {
  const parsed = lines
    .filter((line) => !line.startsWith("\\"))
    .map((line) => ({ kind: KINDS[line[0] as keyof typeof KINDS], text: line.slice(1) }));
  const count = (without: string) => parsed.filter(({ kind }) => kind !== without).length;
  const last = lines.at(-1)?.startsWith("\\") ? parsed.length - 1 : -1;
  return {
    old_start: start,
    old_lines: count("add"),
    new_start: start,
    new_lines: count("delete"),
    ...(section === undefined ? {} : { section }),
    lines: parsed.map((line, at) => (at === last ? { ...line, no_newline: true } : line)),
  };
}

export function aFileReply(hunks: readonly Hunk[], path = "src/a.ts"): FileChangesReply {
  return { path, status: "modified", hunks: [...hunks] };
}

export function aFile(path: string, more: Partial<ChangedFile> = {}): ChangedFile {
  return { path, status: "modified", additions: 1, deletions: 1, turns: [1], ...more };
}

export function aReply(files: readonly ChangedFile[], more: Partial<ChangesReply> = {}): ChangesReply {
  const turn = {
    turn: 1,
    turn_id: "t1",
    started_at_ms: 1,
    ended_at_ms: 2,
    files: 1,
    additions: 1,
    deletions: 1,
  };
  return {
    session_id: "s",
    state: "ok",
    repository: "/home/me/shop",
    turns: [turn],
    files: [...files],
    totals: { files: files.length, additions: files.length, deletions: files.length },
    ...more,
  };
}
