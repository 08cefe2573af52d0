// What of a workspace a command must not read (environment files) or not write (git's and demian's own files), as it
// stands on disk before the command starts. What a command makes itself is its own.
import { realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Tree } from "./tree.ts";

export interface ProtectedPlaces {
  /** Files whose contents are taken away. */
  maskedFiles: string[];
  /** Directories that look empty. */
  maskedDirectories: string[];
  /** May be read and not written. */
  readOnly: string[];
  /** Git directories that may be written: the parts that run code are in `readOnly`. */
  writable: string[];
}

/**
 * Where links may lead. Made up by the kernel (another process sees something else there), or programs: no secrets, and
 * needed to run anything.
 */
const NO_SECRETS = /^\/(proc|sys|dev|usr|bin|sbin|lib[^/]*)\//;
/** In a git directory, the files that make git run something. */
const GIT_CODE = ["config", "config.worktree", "hooks", "commondir", "info/attributes"];

/** Throws `workspace_too_large` and `workspace_too_odd`. */
export async function findProtected(
  tree: Tree,
  writableGit: boolean,
  isOfSubAgent = false,
): Promise<ProtectedPlaces> {
  const { root } = tree;
  const places: ProtectedPlaces = { maskedFiles: [], maskedDirectories: [], readOnly: [], writable: [] };
  const { secrets, gits } = await tree.search();
  await Promise.all(secrets.map((path) => mask(path, root, places)));
  for (const git of gits) await protectGit(git, root, writableGit, places);
  await protect(join(root, ".demian"), root, places);
  // What was said belongs to people, and not to a sub-agent that was given less of it.
  for (const name of isOfSubAgent ? ["transcripts", "tmp"] : ["transcripts"]) {
    const kept = await resolveInside(join(root, ".demian", name), root);
    if (kept?.kind === "directory") places.maskedDirectories.push(kept.path);
  }
  return places;
}

/** Whether `path` is `parent` or below it. */
export function isWithin(parent: string, path: string): boolean {
  const way = relative(parent, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

export type PathKind = "file" | "directory";

/** Where a path really is, and what it is; undefined where there is nothing. */
export async function resolvePlace(path: string): Promise<{ path: string; kind: PathKind } | undefined> {
  try {
    const real = await realpath(path);
    const info = await stat(real);
    return { path: real, kind: info.isDirectory() ? "directory" : "file" };
  } catch {
    return undefined; // nothing there, or nothing that we could read either
  }
}

async function mask(path: string, root: string, places: ProtectedPlaces): Promise<void> {
  const place = await resolvePlace(path);
  if (place === undefined) return;
  // The workspace itself may lie in /usr, as in many containers.
  if (NO_SECRETS.test(place.path) && !isWithin(root, place.path)) return;
  if (place.kind === "file") places.maskedFiles.push(place.path);
  // A link could lead to any directory, even to one above us: its files are where they were.
  else if (place.path === path) places.maskedDirectories.push(place.path);
}

async function protectGit(
  git: string,
  root: string,
  writable: boolean,
  places: ProtectedPlaces,
): Promise<void> {
  const place = await resolveInside(git, root);
  if (place === undefined) return;
  if (!writable || place.kind === "file") {
    places.readOnly.push(place.path);
    return;
  }
  // A mount of its own: it cannot be moved away and replaced by another one.
  places.writable.push(place.path);
  const hooks = join(place.path, "hooks");
  // Not there, it could be made; a file that is not there cannot be kept from being made without making it.
  if ((await resolvePlace(hooks)) === undefined) places.maskedDirectories.push(hooks);
  await Promise.all(GIT_CODE.map((name) => protect(join(place.path, name), root, places)));
}

async function protect(path: string, root: string, places: ProtectedPlaces): Promise<void> {
  const place = await resolveInside(path, root);
  if (place !== undefined) places.readOnly.push(place.path);
}

/**
 * Undefined also for what leads out of the workspace, or to all of it: a mount there would lie over others, and let a
 * link choose what is seen or written. Outside nothing can be written anyway.
 */
async function resolveInside(path: string, root: string): ReturnType<typeof resolvePlace> {
  const place = await resolvePlace(path);
  return place !== undefined && place.path !== root && isWithin(root, place.path) ? place : undefined;
}
