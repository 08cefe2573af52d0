// Everything below a directory, by handles: a directory that is exchanged for a link meanwhile is not entered.
import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { At } from "./at.ts";
import type { Entry, WalkOptions } from "./types.ts";

/** Looked at between two chances for everything else in the process. */
const ENTRIES_A_TIME = 200;
const MAX_DEPTH = 200;

/** Closes `fd`. In the order of names. */
export async function* walkDirectory(
  at: At,
  fd: number,
  path: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Entry> {
  try {
    let seen = 0;
    for (const name of at.list(fd).sort()) {
      seen += 1;
      if (seen % ENTRIES_A_TIME === 0) await setImmediate();
      options.signal.throwIfAborted();
      const stats = quietly(() => at.stat(fd, name));
      if (stats === undefined || !isShown(stats)) continue;
      const names = [...path, name];
      const isDirectory = stats.isDirectory();
      yield {
        path: names.join("/"),
        isDirectory,
        isLink: stats.isSymbolicLink(),
        mtimeMs: stats.mtimeMs,
        size: stats.size,
      };
      if (!isDirectory || options.skip.has(name) || names.length > MAX_DEPTH) continue;
      const below = quietly(() => at.openDirectory(fd, name));
      if (below !== undefined) yield* walkDirectory(at, below, names, options);
    }
    await setImmediate();
  } finally {
    at.close(fd);
  }
}

function isShown(stats: Stats): boolean {
  return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
}

/** What cannot be looked at (vanished, exchanged, no permission) is left out. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
