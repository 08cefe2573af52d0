// Disk calls that complete or throw, and files that appear whole or not at all.
import { readErrno } from "../../base/coded-error.ts";
import type { FileSystem } from "./file-system.ts";

/** A full disk may shorten a write without an error: repeat until all is written or an error says why. */
export function writeAll(fs: FileSystem, fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const count = fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
    if (count === 0) throw new Error(`wrote only ${done} of ${bytes.length} bytes; the disk may be full`);
    done += count;
  }
}

/** Fills `bytes` up to the end of the file; returns the count. */
export function readAll(fs: FileSystem, fd: number, bytes: Uint8Array, position: number): number {
  let done = 0;
  while (done < bytes.length) {
    const count = fs.readSync(fd, bytes, done, bytes.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** Reads a whole file; undefined if it does not exist. */
export function readWhole(fs: FileSystem, path: string): { bytes: Buffer; mtimeMs: number } | undefined {
  const fd = openIfThere(fs, path);
  if (fd === undefined) return undefined;
  try {
    const { size, mtimeMs } = fs.fstatSync(fd);
    const bytes = Buffer.alloc(size);
    return { bytes: bytes.subarray(0, readAll(fs, fd, bytes, 0)), mtimeMs };
  } finally {
    fs.closeSync(fd);
  }
}

/** Syncs before the rename: otherwise a power cut could leave an empty file in place of a good one. */
export function replaceFile(fs: FileSystem, path: string, fill: (fd: number) => void): void {
  const temp = `${path}.tmp`;
  const fd = fs.openSync(temp, "w", 0o600);
  try {
    try {
      fill(fd);
      fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temp, path);
  } catch (error) {
    // A half-written copy would keep a full disk full.
    tryUnlink(fs, temp);
    throw error;
  }
}

/** Makes files created, renamed or removed in a directory durable. */
export function syncDirectory(fs: FileSystem, dir: string): void {
  const fd = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Creates `<path>`, or `<path>-1`, `<path>-2`, … if it exists. */
export function createBeside(fs: FileSystem, path: string): { fd: number; path: string } {
  for (let n = 0; ; n += 1) {
    const name = n === 0 ? path : `${path}-${n}`;
    try {
      return { fd: fs.openSync(name, "wx", 0o600), path: name };
    } catch (error) {
      if (readErrno(error) !== "EEXIST") throw error;
    }
  }
}

export function unlinkIfThere(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    if (readErrno(error) !== "ENOENT") throw error;
  }
}

function tryUnlink(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // The error that led here is the one to report.
  }
}

export function openIfThere(fs: FileSystem, path: string, flags = "r"): number | undefined {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw error;
  }
}
