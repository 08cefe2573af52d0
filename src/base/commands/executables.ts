// Finds the program that a command runs, and rejects one that an agent could have created.
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { Lookups } from "./lookups.ts";

export interface ExecutableContext {
  /** Real path. Undefined if unknown, as in a shell that stays open; then relative programs cannot be resolved. */
  cwd: string | undefined;
  /** Directories where the agent can create programs, as real paths. */
  writable: readonly string[];
  /** The command's PATH. */
  path: string | undefined;
  /** Shared with others that look for programs at the same time. */
  lookups?: Lookups;
}

/** World-writable directories on Linux and macOS. */
export const SHARED_DIRS = ["/tmp", "/var/tmp", "/dev/shm"];

/** The real path; undefined if there is none, or the agent could have created it. */
export async function findExecutable(name: string, context: ExecutableContext): Promise<string | undefined> {
  if (name.includes("/")) {
    if (context.cwd === undefined && !isAbsolute(name)) return undefined;
    return trust(await locate(resolve(context.cwd ?? "/", name)), context.writable);
  }
  const { path, lookups = new Lookups() } = context;
  if (path === undefined) return undefined;
  const place = await lookups.share(`program ${JSON.stringify([name, path])}`, () => search(name, path));
  return trust(place, context.writable);
}

interface Place {
  file: string;
  real: string;
}

/** The first in PATH. */
async function search(name: string, path: string): Promise<Place | undefined> {
  const folders = path.split(delimiter);
  // With a relative entry in PATH, the program depends on the directory.
  if (folders.some((folder) => !isAbsolute(folder))) return undefined;
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return locate(file);
  }
  return undefined;
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function locate(file: string): Promise<Place | undefined> {
  const real = await realpath(file).catch(() => undefined);
  return real === undefined || !(await isExecutable(real)) ? undefined : { file, real };
}

function trust(place: Place | undefined, writable: readonly string[]): string | undefined {
  if (place === undefined) return undefined;
  const { file, real } = place;
  return [file, real].some((path) => writable.some((root) => isBelow(path, root))) ? undefined : real;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
