// Lists everything below a directory, by handles: a directory that is replaced by a link meanwhile is not entered.
import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { At } from "./at.ts";
import type { Entry, WalkOptions } from "./types.ts";

/** Entries between two yields to the event loop. */
const ENTRIES_A_TIME = 200;
const MAX_DEPTH = 200;

/** Closes `fd`. In name order. */
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
      const stats = ignoreErrors(() => at.stat(fd, name));
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
      const below = ignoreErrors(() => at.openDirectory(fd, name));
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

/** Skips what cannot be read (gone, replaced, no permission). */
function ignoreErrors<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
