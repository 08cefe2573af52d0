// Disk calls that are done completely or throw, and files that appear completely or not at all.
import { errnoOf } from "../../base/coded-error.ts";
import type { FileSystem } from "./file-system.ts";

/** A full disk may shorten a write without an error: go on until all is written or the reason is known. */
export function writeAll(fs: FileSystem, fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const count = fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
    if (count === 0) throw new Error(`wrote only ${done} of ${bytes.length} bytes; the disk may be full`);
    done += count;
  }
}

/** Fills `bytes` as far as the file goes; the count. */
export function readAll(fs: FileSystem, fd: number, bytes: Uint8Array, position: number): number {
  let done = 0;
  while (done < bytes.length) {
    const count = fs.readSync(fd, bytes, done, bytes.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** Synced before it is renamed: otherwise a power cut can leave an empty file where a good one was. */
export function replaceFile(fs: FileSystem, path: string, fill: (fd: number) => void): void {
  const temp = `${path}.tmp`;
  const fd = fs.openSync(temp, "w", 0o600);
  try {
    fill(fd);
    fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(temp, path);
}

export function syncDirectory(fs: FileSystem, dir: string): void {
  const fd = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Opens a new file `<path>`, or `<path>-1`, `<path>-2`, when there is one already. */
export function createBeside(fs: FileSystem, path: string): { fd: number; path: string } {
  for (let n = 0; ; n += 1) {
    const name = n === 0 ? path : `${path}-${n}`;
    try {
      return { fd: fs.openSync(name, "wx", 0o600), path: name };
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

export function unlinkIfThere(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

export function openIfThere(fs: FileSystem, path: string, flags = "r"): number | undefined {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
