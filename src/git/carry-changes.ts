// Copies what is changed but not committed from one work tree to another at the same commit: the bytes of the files as they
// are, without git, so that no filter or line ending rule touches them.
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type RawPath, splitFields, toDiskPath, toShownPath } from "./paths.ts";
import type { Repository } from "./repository.ts";
import type { Git } from "./run.ts";
import { runFiltered } from "./worktrees.ts";

export interface Carried {
  files: number;
  /** Nested repositories, and what is neither a file nor a symbolic link. */
  left: string[];
}

export async function carryChanges(git: Git, from: Repository, to: Repository): Promise<Carried> {
  const paths = await listChanged(git, from);
  const left: string[] = [];
  let files = 0;
  // A file may have become a directory or the reverse: everything old goes first.
  for (const path of paths) await rm(await makeParents(to.root, path), { recursive: true, force: true });
  for (const path of paths) {
    const source = toDiskPath(from.root, path);
    const info = await lstat(source).catch(() => undefined);
    if (info === undefined) continue; // deleted
    if (!info.isFile() && !info.isSymbolicLink()) {
      left.push(toShownPath(path).path);
      continue;
    }
    const target = await makeParents(to.root, path);
    if (info.isSymbolicLink()) await symlink(await readlink(source, "buffer"), target);
    else await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    files += 1;
  }
  return { files, left };
}

async function listChanged(git: Git, repository: Repository): Promise<RawPath[]> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
  const output = await runFiltered(git, repository, { args: [...args, "--ignore-submodules=all"] });
  return splitFields(output)
    .filter((entry) => entry.length > 3)
    .map((entry) => entry.slice(3).replace(/\/$/, ""));
}

/** Makes every parent of the path a real directory, since a symbolic link would lead out of the work tree. Returns the path. */
async function makeParents(root: string, path: RawPath): Promise<Buffer> {
  const folder = dirname(path);
  let parent = "";
  for (const part of folder === "." ? [] : folder.split("/")) {
    parent += `${part}/`;
    const place = toDiskPath(root, parent.slice(0, -1));
    const info = await lstat(place).catch(() => undefined);
    if (info?.isDirectory() === true) continue;
    if (info !== undefined) await rm(place);
    await mkdir(place);
  }
  return toDiskPath(root, path);
}
