// Where worktrees are: `<root>/<repository>-<hash>/<name>`, with a file `<name>.json` beside each that says what it is for.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { ensurePrivateDir, writePrivate } from "../../base/private-file.ts";
import type { Repository } from "../../git/index.ts";
import { SessionWorktree } from "../../protocol/worktrees.ts";

/** `setup` is stored before its command runs, and again when it has succeeded. */
export const WorktreeRecord = SessionWorktree.extend({
  session_id: z.string(),
  created_at_ms: z.int(),
  setup: z.enum(["owed", "done"]).optional(),
});
export type WorktreeRecord = z.infer<typeof WorktreeRecord>;

/** The directory for worktrees of this repository. A linked worktree counts as its main repository. */
export function findFolder(root: string, { commonDir }: Pick<Repository, "commonDir">): string {
  const repository = basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
  const hash = createHash("sha256").update(commonDir).digest("hex").slice(0, 8);
  const name = basename(repository)
    .replaceAll(/[^A-Za-z0-9._-]/g, "_")
    .slice(0, 40);
  return join(root, `${name}-${hash}`);
}

export async function makeFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await ensurePrivateDir(folder);
}

/** Such as `fixer-3f9a1c`. */
export function makeName(wish: string): string {
  const stem = wish
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${stem === "" ? "session" : stem}-${randomBytes(3).toString("hex")}`;
}

export function toRecordFile(path: string): string {
  return `${path}.json`;
}

export async function writeRecord(record: WorktreeRecord): Promise<void> {
  await writePrivate(toRecordFile(record.path), `${JSON.stringify(record)}\n`);
}

/** Undefined if there is none, or it is not one of ours. */
export async function readRecord(path: string): Promise<WorktreeRecord | undefined> {
  try {
    const checked = WorktreeRecord.safeParse(JSON.parse(await readFile(toRecordFile(path), "utf8")));
    return checked.success && checked.data.path === path ? checked.data : undefined;
  } catch {
    return undefined; // the worktree is listed without it
  }
}

export async function removeRecord(path: string): Promise<void> {
  await rm(toRecordFile(path), { force: true });
}

/** Paths of all worktrees, of all repositories. */
export async function listPlaces(root: string): Promise<string[]> {
  const listed = async (folder: string): Promise<string[]> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  };
  const folders = await listed(root);
  return (await Promise.all(folders.map(listed))).flat().sort();
}
