// What of a workspace a command must not read (environment files) or not write (git's and demian's own files), as it
// stands on disk before the command starts. What a command makes itself is its own.
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { mapBounded } from "../../base/map-bounded.ts";
import { isSecretPath } from "../workspace/protected.ts";

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

/** Installed, not written here, and by far the largest part of most trees. */
const SKIPPED = "node_modules";
/** A directory costs some 20 µs; in a larger tree environment files further down are not found. */
export const MAX_DIRECTORIES = 10_000;
const PARALLEL_READS = 16;
/** Made up by the kernel: another process sees something else there. */
const KERNEL_MADE = /^\/(proc|sys|dev)\//;
/** In a git directory, the files that make git run something. */
const GIT_CODE = ["config", "config.worktree", "hooks", "commondir", "info/attributes"];

export async function findProtected(root: string, writableGit: boolean): Promise<ProtectedPlaces> {
  const places: ProtectedPlaces = { maskedFiles: [], maskedDirectories: [], readOnly: [], writable: [] };
  const gits: string[] = [];
  const masked = new Set<string>();
  let level = [root];
  for (let seen = 0; level.length > 0 && seen < MAX_DIRECTORIES; seen += level.length) {
    const next: string[] = [];
    // Somebody may be deleting the tree: what cannot be listed cannot be protected, nor read.
    await mapBounded(level, PARALLEL_READS, async (directory) => {
      for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
        const path = join(directory, entry.name);
        const name = entry.name.toLowerCase();
        if (isSecretPath(name)) masked.add(path);
        else if (name === ".git") gits.push(path);
        else if (entry.isDirectory() && name !== SKIPPED) next.push(path);
      }
    });
    level = next.slice(0, MAX_DIRECTORIES);
  }
  await Promise.all([...masked].map((path) => mask(path, places)));
  for (const git of gits) await protectGit(git, writableGit, places);
  await protect(join(root, ".demian"), places);
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

async function mask(path: string, places: ProtectedPlaces): Promise<void> {
  const place = await resolvePlace(path);
  if (place === undefined || KERNEL_MADE.test(place.path)) return;
  if (place.kind === "file") places.maskedFiles.push(place.path);
  // A link could lead to any directory, even to one above us: its files are where they were.
  else if (place.path === path) places.maskedDirectories.push(place.path);
}

async function protectGit(git: string, writable: boolean, places: ProtectedPlaces): Promise<void> {
  const place = await resolvePlace(git);
  if (place === undefined) return;
  if (!writable || place.kind === "file") {
    places.readOnly.push(place.path);
    return;
  }
  // A mount of its own: it cannot be moved away and replaced by another one.
  places.writable.push(place.path);
  await Promise.all(GIT_CODE.map((name) => protect(join(place.path, name), places)));
}

async function protect(path: string, places: ProtectedPlaces): Promise<void> {
  const place = await resolvePlace(path);
  if (place !== undefined) places.readOnly.push(place.path);
}
