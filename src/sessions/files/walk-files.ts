// The files below a directory that is in no git repository. Bounded in number and time; follows no links, and skips hidden
// directories and those that package managers fill.
import { opendir } from "node:fs/promises";
import { join } from "node:path";

export interface WalkLimits {
  maxFiles: number;
  timeoutMs: number;
}

const SKIPPED: ReadonlySet<string> = new Set(["node_modules", "__pycache__", "venv", "target"]);

/** Paths relative to `root`, nearest directories first. Never rejects: what cannot be read is left out. */
export async function walkFiles(
  root: string,
  { maxFiles, timeoutMs }: WalkLimits,
): Promise<{ paths: string[]; isCut: boolean }> {
  const endMs = Date.now() + timeoutMs;
  const paths: string[] = [];
  const open = [""];
  for (let folder = open.shift(); folder !== undefined; folder = open.shift()) {
    const entries = await opendir(join(root, folder)).catch(() => undefined);
    if (entries === undefined) continue;
    try {
      for await (const entry of entries) {
        if (paths.length >= maxFiles || Date.now() > endMs) return { paths, isCut: true };
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isFile()) paths.push(path);
        else if (entry.isDirectory() && !isSkipped(entry.name)) open.push(path);
      }
    } catch {
      // It was removed meanwhile.
    }
  }
  return { paths, isCut: false };
}

function isSkipped(name: string): boolean {
  return name.startsWith(".") || SKIPPED.has(name);
}
