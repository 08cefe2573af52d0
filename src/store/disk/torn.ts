// Puts what may not stay in its place beside it, under a name with the time: nothing is thrown away unseen.
import type { FileSystem } from "./file-system.ts";
import { createBeside, readAll, writeAll } from "./whole.ts";

const CHUNK = 1024 * 1024;

/** Copies everything from `start` on into a new file `<path>.torn-<stamp>`; its name. */
export function setAside(
  fs: FileSystem,
  source: { fd: number; path: string; start: number },
  stamp: string,
): string {
  const aside = createBeside(fs, `${source.path}.torn-${stamp}`);
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

/** Copies from `start` to `end`, or to where the source ends, to `at` in `to`. */
export function copyBytes(
  fs: FileSystem,
  {
    from,
    to,
    start,
    end = Number.POSITIVE_INFINITY,
    at = 0,
  }: { from: number; to: number; start: number; end?: number; at?: number },
): void {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let position = start; position < end; ) {
    const count = readAll(fs, from, chunk.subarray(0, Math.min(CHUNK, end - position)), position);
    if (count === 0) return;
    writeAll(fs, to, chunk.subarray(0, count), at + position - start);
    position += count;
  }
}
