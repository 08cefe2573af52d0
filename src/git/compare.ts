// What differs between two trees: files with their line counts, and the hunks of one file. Compared by git without the
// repository's configuration, so no external diff and no textconv.
import type { ChangedLine, ChangeStatus, Hunk } from "../protocol/changes.ts";
import { type RawPath, splitFields } from "./paths.ts";
import type { PrivateGitDir } from "./private-dir.ts";

/** One side of a changed file. */
export interface Blob {
  mode: string;
  oid: string;
}

export interface TreeChange {
  path: RawPath;
  oldPath?: RawPath;
  status: ChangeStatus;
  /** Absent if it did not exist. */
  before?: Blob;
  after?: Blob;
  /** Absent for binary ones. */
  additions?: number;
  deletions?: number;
}

export const GITLINK_MODE = "160000";
export const LINK_MODE = "120000";

const TIMEOUT_MS = 30_000;
/** Looking for renames takes time in proportion to the square of the number of files. */
const RENAME_LIMIT = 500;
const STATUSES: Readonly<Record<string, ChangeStatus>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  T: "type_changed",
  R: "renamed",
};

/** `findsRenames`: a deleted and an added file with similar content are one renamed file. Throws `git_failed`. */
export async function compareTrees(
  dir: PrivateGitDir,
  [from, to]: readonly [string, string],
  { findsRenames }: { findsRenames: boolean },
): Promise<TreeChange[]> {
  if (from === to) return [];
  const renames = findsRenames ? ["-M", `-l${RENAME_LIMIT}`] : ["--no-renames"];
  const args = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", ...renames];
  const safe = ["--no-ext-diff", "--no-textconv"];
  return parseChanges(await dir.expect({ args: [...args, ...safe, from, to], timeoutMs: TIMEOUT_MS }));
}

/** First one record per file, then its counts in the same order. */
export function parseChanges(output: Buffer): TreeChange[] {
  const fields = splitFields(output);
  const changes: TreeChange[] = [];
  let at = 0;
  const next = () => fields[at++] ?? "";
  while (fields[at]?.startsWith(":") === true) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = "", letter = ""] = next().slice(1).split(" ");
    const status = STATUSES[letter[0] ?? ""] ?? "modified";
    const first = next();
    const moved = status === "renamed" ? { oldPath: first, path: next() } : { path: first };
    changes.push({
      ...moved,
      status,
      ...(isAbsent(oldMode) ? {} : { before: { mode: oldMode, oid: oldOid } }),
      ...(isAbsent(newMode) ? {} : { after: { mode: newMode, oid: newOid } }),
    });
  }
  for (const change of changes) {
    const [additions = "-", deletions = "-", path = ""] = next().split("\t");
    if (path === "") at += 2; // a renamed one: both paths follow
    if (additions === "-" || change.before?.mode === GITLINK_MODE || change.after?.mode === GITLINK_MODE)
      continue;
    change.additions = Number(additions);
    change.deletions = Number(deletions);
  }
  return changes;
}

function isAbsent(mode: string): boolean {
  return /^0+$/.test(mode);
}

export interface FileHunks {
  hunks: Hunk[];
  binary: boolean;
  truncated: boolean;
}

const MAX_HUNK_BYTES = 2 * 1024 * 1024;
const MAX_LINE_CHARS = 20_000;

/** The hunks between two versions of a file. An absent one is empty. Throws `git_failed`. */
export async function readHunks(
  dir: PrivateGitDir,
  before: Blob | undefined,
  after: Blob | undefined,
): Promise<FileHunks> {
  const [old, now] = [await describe(dir, before), await describe(dir, after)];
  if (old === now) return { hunks: [], binary: false, truncated: false };
  const args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "-U3", old, now];
  const { stdout, isCut } = await dir.run({
    args,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_HUNK_BYTES,
    isCutAtLimit: true,
  });
  const { hunks, binary } = parseHunks(stdout);
  return { hunks, binary, truncated: isCut === true };
}

/** The object to compare: for none an empty file, for a nested repository a line with its commit. */
async function describe(dir: PrivateGitDir, blob: Blob | undefined): Promise<string> {
  if (blob !== undefined && blob.mode !== GITLINK_MODE) return blob.oid;
  const text = blob === undefined ? "" : `Subproject commit ${blob.oid}\n`;
  const args = ["hash-object", "-w", "--stdin", "--no-filters"];
  return (await dir.expect({ args, input: Buffer.from(text) })).toString("utf8").trim();
}

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const KINDS: Readonly<Record<string, ChangedLine["kind"]>> = { " ": "context", "+": "add", "-": "delete" };

export function parseHunks(patch: Buffer): { hunks: Hunk[]; binary: boolean } {
  const hunks: Hunk[] = [];
  let hunk: Hunk | undefined;
  let binary = false;
  const lines = patch.toString("utf8").split("\n");
  lines.pop(); // complete lines only
  for (const line of lines) {
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, oldStart, oldLines = "1", newStart, newLines = "1", section = ""] = head;
      hunk = {
        old_start: Number(oldStart),
        old_lines: Number(oldLines),
        new_start: Number(newStart),
        new_lines: Number(newLines),
        ...(section === "" ? {} : { section }),
        lines: [],
      };
      hunks.push(hunk);
    } else if (hunk === undefined) binary ||= line.startsWith("Binary files ");
    else if (line.startsWith("\\")) {
      const last = hunk.lines.at(-1);
      if (last !== undefined) last.no_newline = true;
    } else {
      const kind = KINDS[line[0] ?? " "];
      if (kind !== undefined) hunk.lines.push({ kind, text: line.slice(1, MAX_LINE_CHARS) });
    }
  }
  return { hunks, binary };
}
