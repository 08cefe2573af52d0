// How much space a directory takes on disk.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { mapBounded } from "./map-bounded.ts";

export interface DiskUse {
  /** An entry of the directory, with all that is in it. */
  name: string;
  bytes: number;
}

const PARALLEL = 32;
const BLOCK = 512;

/** Largest first; links are not followed. Empty if there is no such directory. */
export async function measureEntries(directory: string): Promise<DiskUse[]> {
  const entries = await mapBounded(await list(directory), PARALLEL, async (name) => ({
    name,
    bytes: await measure(join(directory, name)),
  }));
  return entries.sort((a, b) => b.bytes - a.bytes);
}

async function measure(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined); // it was removed in the meantime
  if (stats === undefined) return 0;
  const own = stats.blocks * BLOCK;
  if (!stats.isDirectory()) return own;
  const sizes = await mapBounded(await list(path), PARALLEL, (name) => measure(join(path, name)));
  return sizes.reduce((sum, bytes) => sum + bytes, own);
}

async function list(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []); // as above, or not readable
}
