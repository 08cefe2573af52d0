// Copies bytes that must be removed from a file into a file beside it, so that nothing is lost silently.
import type { FileSystem } from "./file-system.ts";
import { createBeside, readAll, writeAll } from "./whole.ts";

const CHUNK = 1024 * 1024;

/** Copies everything from `start` on into a new file `<path>.<suffix>`; returns its name. */
export function setAside(
  fs: FileSystem,
  source: { fd: number; path: string; start: number },
  suffix: string,
): string {
  const aside = createBeside(fs, `${source.path}.${suffix}`);
  try {
    copyBytes(fs, { from: source.fd, to: aside.fd, start: source.start });
    fs.fdatasyncSync(aside.fd);
  } catch (error) {
    fs.unlinkSync(aside.path);
    throw error;
  } finally {
    fs.closeSync(aside.fd);
  }
  return aside.path;
}

function copyBytes(fs: FileSystem, { from, to, start }: { from: number; to: number; start: number }): void {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let position = start; ; ) {
    const count = readAll(fs, from, chunk, position);
    if (count === 0) return;
    writeAll(fs, to, chunk.subarray(0, count), position - start);
    position += count;
  }
}
