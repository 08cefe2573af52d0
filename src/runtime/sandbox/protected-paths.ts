// Finds the paths in a workspace that a command must not read (environment files) or write (files of git and demian), as of
// its start. Files that the command creates itself are not protected.
import { realpathSync, statSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Tree } from "./tree.ts";

export interface ProtectedPaths {
  /** Unreadable files. */
  maskedFiles: string[];
  /** Directories that appear empty. */
  maskedDirectories: string[];
  /** Read-only paths. */
  readOnly: string[];
  /** Writable git directories; the parts that run code are in `readOnly`. */
  writable: string[];
}

/**
 * Link targets that are never masked: kernel file systems and programs contain no secrets, and commands need them.
 */
const NO_SECRETS = /^\/(proc|sys|dev|usr|bin|sbin|lib[^/]*)\//;
/** Files in a git directory that make git run programs. */
const GIT_CODE = ["config", "config.worktree", "hooks", "commondir", "info/attributes"];

/** Throws `workspace_too_large` and `workspace_too_odd`. */
export async function findProtected(
  tree: Tree,
  writableGit: boolean,
  isOfSubAgent = false,
): Promise<ProtectedPaths> {
  const { root } = tree;
  const protectedPaths: ProtectedPaths = {
    maskedFiles: [],
    maskedDirectories: [],
    readOnly: [],
    writable: [],
  };
  const { secrets, gits } = await tree.search();
  await Promise.all(secrets.map((path) => mask(path, root, protectedPaths)));
  for (const git of gits) await protectGit(git, root, writableGit, protectedPaths);
  await protect(join(root, ".demian"), root, protectedPaths);
  // Commands do not see transcripts; those of sub-agents do not see other agents' output either.
  for (const name of isOfSubAgent ? ["transcripts", "tmp"] : ["transcripts"]) {
    const found = await resolveInside(join(root, ".demian", name), root);
    if (found?.kind === "directory") protectedPaths.maskedDirectories.push(found.path);
  }
  return protectedPaths;
}

/** Whether `path` is `parent` or below it. */
export function isWithin(parent: string, path: string): boolean {
  const way = relative(parent, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

export type PathKind = "file" | "directory";

/** The real path and its kind; undefined if it does not exist. */
export async function resolvePath(path: string): Promise<{ path: string; kind: PathKind } | undefined> {
  try {
    const real = await realpath(path);
    const info = await stat(real);
    return { path: real, kind: info.isDirectory() ? "directory" : "file" };
  } catch {
    return undefined; // Missing, or not readable by us either.
  }
}

/** The same, without the cost of a thread: most paths of a long list do not exist. */
export function resolvePathNow(path: string): { path: string; kind: PathKind } | undefined {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info === undefined) return undefined;
    return { path: realpathSync.native(path), kind: info.isDirectory() ? "directory" : "file" };
  } catch {
    return undefined;
  }
}

async function mask(path: string, root: string, protectedPaths: ProtectedPaths): Promise<void> {
  const target = await resolvePath(path);
  if (target === undefined) return;
  // The workspace itself may be in /usr, as in many containers.
  if (NO_SECRETS.test(target.path) && !isWithin(root, target.path)) return;
  if (target.kind === "file") protectedPaths.maskedFiles.push(target.path);
  // A link may point to any directory, even a parent; its files are found at their real path.
  else if (target.path === path) protectedPaths.maskedDirectories.push(target.path);
}

async function protectGit(
  git: string,
  root: string,
  writable: boolean,
  protectedPaths: ProtectedPaths,
): Promise<void> {
  const target = await resolveInside(git, root);
  if (target === undefined) return;
  if (!writable || target.kind === "file") {
    protectedPaths.readOnly.push(target.path);
    return;
  }
  // A mount point cannot be moved away and replaced.
  protectedPaths.writable.push(target.path);
  const hooks = join(target.path, "hooks");
  // A missing directory is masked, so that it cannot be created; for a missing file that is not possible.
  if ((await resolvePath(hooks)) === undefined) protectedPaths.maskedDirectories.push(hooks);
  await Promise.all(GIT_CODE.map((name) => protect(join(target.path, name), root, protectedPaths)));
}

async function protect(path: string, root: string, protectedPaths: ProtectedPaths): Promise<void> {
  const target = await resolveInside(path, root);
  if (target !== undefined) protectedPaths.readOnly.push(target.path);
}

/**
 * Undefined also for paths outside the workspace, or the workspace itself: a mount there would let a link choose what is
 * visible or writable. Nothing outside is writable anyway.
 */
async function resolveInside(path: string, root: string): ReturnType<typeof resolvePath> {
  const target = await resolvePath(path);
  return target !== undefined && target.path !== root && isWithin(root, target.path) ? target : undefined;
}
