// Gives files of the work tree the content that they had in a tree: first a plan, which a person can look at, then the
// writing. Each file is replaced as a whole; nothing outside the work tree is reached through a link.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { readBlobs } from "./blobs.ts";
import { type Blob, GITLINK_MODE, LINK_MODE } from "./compare.ts";
import { listParents, type RawPath, toDiskPath, toShownPath } from "./paths.ts";
import type { PrivateGitDir } from "./private-dir.ts";

export interface RestoreStep {
  path: RawPath;
  /** What it gets; absent: it is removed. */
  want?: Blob;
  /** What it has now; absent: nothing. */
  have?: Blob;
}

const EXECUTABLE = 0o111;
const GROUP_BYTES = 32 * 1024 * 1024;

/** Why a step cannot be taken although its content is known; undefined if it can. `steps`: all that are planned. */
export async function findObstacle(
  root: string,
  step: RestoreStep,
  steps: ReadonlyMap<RawPath, RestoreStep>,
): Promise<string | undefined> {
  if (step.want === undefined) return undefined;
  if (step.want.mode === GITLINK_MODE) return "it is a repository of its own";
  for (const parent of listParents(step.path)) {
    const info = await lstat(toDiskPath(root, parent)).catch(() => undefined);
    if (info === undefined || info.isDirectory()) continue;
    const planned = steps.get(parent);
    if (planned === undefined || planned.want !== undefined)
      return `${toShownPath(parent).path} is not a directory`;
  }
  const info = await lstat(toDiskPath(root, step.path)).catch(() => undefined);
  if (info?.isDirectory() !== true) return undefined;
  const other = await findOther(root, step.path, steps);
  return other === undefined
    ? undefined
    : `the directory in its place has ${toShownPath(other).path}, which no turn created`;
}

/** Something in a directory that the plan does not remove. */
async function findOther(
  root: string,
  folder: RawPath,
  steps: ReadonlyMap<RawPath, RestoreStep>,
): Promise<RawPath | undefined> {
  for (const entry of await readdir(toDiskPath(root, folder), { withFileTypes: true, encoding: "buffer" })) {
    const path = `${folder}/${entry.name.toString("latin1")}`;
    if (entry.isDirectory()) {
      const found = await findOther(root, path, steps);
      if (found !== undefined) return found;
    } else {
      const planned = steps.get(path);
      if (planned === undefined || planned.want !== undefined) return path;
    }
  }
  return undefined;
}

/** Takes all steps. `kept`: directories that stay, even if they are empty then. Throws `git_failed`, `undo_failed`. */
export async function restoreFiles(
  dir: PrivateGitDir,
  steps: readonly RestoreStep[],
  kept: readonly string[],
): Promise<void> {
  const { root } = dir.repository;
  const wanted = steps.flatMap(({ path, want }) => (want === undefined ? [] : [{ path, want }]));
  // Removed first: a file may be in the place of a directory, and the reverse.
  const parents = new Set<RawPath>();
  for (const { path, want } of steps) {
    if (want !== undefined) continue;
    await attempt(path, () => removeFile(root, path));
    for (const parent of listParents(path)) parents.add(parent);
  }
  await removeEmpty(root, parents, kept);
  for (const { path } of wanted) await removeEmptyTree(root, path);
  for await (const { path, want, bytes } of readBlobs(dir, wanted, GROUP_BYTES)) {
    await attempt(path, () => writeFile(root, path, want, bytes));
  }
}

async function attempt(path: RawPath, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const { path: shown } = toShownPath(path);
    throw new CodedError(
      "undo_failed",
      `${shown} could not be restored: ${toMessage(cause)}; files before it were`,
      { cause },
    );
  }
}

async function removeFile(root: string, path: RawPath): Promise<void> {
  if (!(await isReachable(root, path))) return; // its directory is gone, or became a link
  await unlink(toDiskPath(root, path)).catch((error: unknown) => {
    if (readErrno(error) !== "ENOENT") throw error;
  });
}

async function writeFile(root: string, path: RawPath, { mode }: Blob, bytes: Buffer): Promise<void> {
  for (const parent of listParents(path).reverse())
    await mkdir(toDiskPath(root, parent)).catch(ignoreExisting);
  if (!(await isReachable(root, path))) throw new Error("one of its directories is a link");
  const place = toDiskPath(root, path);
  const draft = toDiskPath(root, nameDraft(path));
  try {
    if (mode === LINK_MODE) await symlink(bytes, draft);
    else await writeNew(draft, bytes, mode, await readMode(place));
    await rename(draft, place);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

async function writeNew(
  place: Buffer,
  bytes: Buffer,
  mode: string,
  before: number | undefined,
): Promise<void> {
  const file = await open(
    place,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o666,
  );
  try {
    await file.writeFile(bytes);
    const { mode: made } = await file.stat();
    // Other bits stay as they are; a new file gets those of the umask.
    const base = (before ?? made) & 0o777;
    const readers = (base & 0o444) >> 2;
    await file.chmod(mode === "100755" ? base | readers : base & ~EXECUTABLE);
  } finally {
    await file.close();
  }
}

async function readMode(place: Buffer): Promise<number | undefined> {
  const info = await lstat(place).catch(() => undefined);
  return info?.isFile() === true ? info.mode : undefined;
}

/** All its directories are directories, not links. */
async function isReachable(root: string, path: RawPath): Promise<boolean> {
  for (const parent of listParents(path)) {
    const info = await lstat(toDiskPath(root, parent)).catch(() => undefined);
    if (info?.isDirectory() !== true) return false;
  }
  return true;
}

/** Deepest first. */
async function removeEmpty(
  root: string,
  parents: ReadonlySet<RawPath>,
  kept: readonly string[],
): Promise<void> {
  const stays = new Set(
    kept.flatMap((path) => (path.startsWith(`${root}/`) ? [toRaw(path.slice(root.length + 1))] : [])),
  );
  const blocked = new Set([...stays].flatMap((path) => [path, ...listParents(path)]));
  for (const parent of [...parents].sort((a, b) => b.length - a.length)) {
    if (blocked.has(parent) || !(await isReachable(root, `${parent}/x`))) continue;
    await rmdir(toDiskPath(root, parent)).catch(() => undefined); // has other files
  }
}

/** Directories without files, where a file is to be. */
async function removeEmptyTree(root: string, path: RawPath): Promise<void> {
  const place = toDiskPath(root, path);
  const info = await lstat(place).catch(() => undefined);
  if (info?.isDirectory() !== true) return;
  for (const name of await readdir(place, { encoding: "buffer" })) {
    await removeEmptyTree(root, `${path}/${name.toString("latin1")}`);
  }
  await rmdir(place).catch(() => undefined);
}

function ignoreExisting(error: unknown): void {
  if (readErrno(error) !== "EEXIST") throw error;
}

function toRaw(text: string): RawPath {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** In the same directory. */
function nameDraft(path: RawPath): RawPath {
  return `${path.slice(0, path.lastIndexOf("/") + 1)}.blemees-${randomBytes(6).toString("hex")}.tmp`;
}
