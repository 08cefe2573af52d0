// Resolves a path that a request names: where it really is, and whether the file has a second name.
import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readErrno } from "../coded-error.ts";

export interface ResolvedPath {
  /** Absolute and normalized, links not followed. */
  lexical: string;
  /** Links followed; undefined if that is not certain. */
  real?: string;
  /** A file with a second hard link: its other name may be anywhere. */
  isLinked?: true;
}

/**
 * `cwd` undefined: not known, so that a relative path has no certain place. A path with `..` has none either: after a link
 * it leads elsewhere than it seems to. Never rejects.
 */
export async function resolvePath(path: string, cwd: string | undefined): Promise<ResolvedPath> {
  const { lexical, real } = await resolveDirectory(path, cwd);
  if (real === undefined) return { lexical };
  const info = await stat(real).catch(() => undefined);
  const isLinked = info?.isFile() === true && info.nlink > 1;
  return { lexical, real, ...(isLinked ? { isLinked: true } : {}) };
}

/** The same for a directory, which has no hard links. */
export async function resolveDirectory(path: string, cwd: string | undefined): Promise<ResolvedPath> {
  const lexical = resolve(cwd ?? "/", path);
  if (path === "" || path.includes("\0") || path.split("/").includes("..")) return { lexical };
  if (!isAbsolute(path) && cwd === undefined) return { lexical };
  const real = await findReal(lexical);
  return real === undefined ? { lexical } : { lexical, real };
}

/** For a path that does not exist yet: in the real place of the closest directory that does. */
async function findReal(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (readErrno(error) !== "ENOENT") return undefined;
  }
  // A dangling link: writing to it creates its target.
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  const parent = dirname(path);
  if (isThere || parent === path) return undefined;
  const above = await findReal(parent);
  return above === undefined ? undefined : join(above, basename(path));
}
