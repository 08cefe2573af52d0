// Replaces a file: writes a new one next to it and renames it over the old, through the handle of its directory.
import { createHash, randomBytes } from "node:crypto";
import { constants, fchmodSync, fchownSync, fstatSync, readSync, type Stats, writeSync } from "node:fs";
import { readErrno } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { At } from "./at.ts";
import { tryStat } from "./look-up.ts";

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;
const NEW_MODE = 0o644;
const CHUNK_BYTES = 256 * 1024;

export interface Replacement {
  name: string;
  /** For messages. */
  shown: string;
  content: string | Buffer;
  /** See `Workspace.write`. */
  expected: string | null | undefined;
  mode?: number | undefined;
}

/** Throws `changed_since`, `hard_linked`, `not_a_file`, `read_only`. */
export function replaceFile(at: At, directory: number, order: Replacement): void {
  const old = tryStat(at, directory, order.name);
  if (old !== undefined) checkReplaceable(old, order.shown);
  const temporary = `.demian-${randomBytes(8).toString("hex")}.tmp`;
  const fd = at.openFile(directory, temporary, O_CREAT | O_EXCL | O_WRONLY, NEW_MODE);
  try {
    try {
      const { content } = order;
      writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
      if (old !== undefined) keepOwner(fd, old);
      else if (order.mode !== undefined) fchmodSync(fd, order.mode);
    } finally {
      at.close(fd);
    }
    checkContent(at, directory, order);
    at.rename(directory, temporary, order.name);
  } catch (error) {
    at.unlink(directory, temporary);
    throw error;
  }
}

/** Creates the missing directories of `names` below `directory`; the caller closes the last one's handle. */
export function makeDirectories(at: At, directory: number, names: readonly string[]): number {
  const [first, ...rest] = names;
  if (first === undefined) throw new Error("no directory to create");
  try {
    at.makeDirectory(directory, first, 0o755);
  } catch (error) {
    if (readErrno(error) !== "EEXIST") throw error;
  }
  const fd = at.openDirectory(directory, first);
  if (rest.length === 0) return fd;
  try {
    return makeDirectories(at, fd, rest);
  } finally {
    at.close(fd);
  }
}

/** Throws unless it is a writable regular file with one name. */
export function checkReplaceable(stats: Stats, shown: string): void {
  if (!stats.isFile()) throw new ToolError("not_a_file", `${shown} is ${describeKind(stats)}, not a file`);
  if (stats.nlink > 1) throw hardLinkedError(shown);
  if ((stats.mode & 0o222) === 0) {
    throw new ToolError("read_only", `${shown} is read-only; make it writable first (chmod u+w)`);
  }
}

export function hardLinkedError(shown: string): ToolError {
  const what = `${shown} is hard-linked: the same file has another name, possibly outside the working directory`;
  return new ToolError("hard_linked", `${what}; copy it to a new file first`);
}

export function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isSymbolicLink()) return "a link";
  if (stats.isFile()) return "a file";
  return "a device";
}

function keepOwner(fd: number, old: Stats): void {
  const own = fstatSync(fd);
  if (own.uid !== old.uid || own.gid !== old.gid) {
    try {
      fchownSync(fd, old.uid, old.gid);
    } catch {
      // Only root may: for everybody else the file becomes theirs, as with every editor.
    }
  }
  fchmodSync(fd, old.mode & 0o777);
}

/** Throws `changed_since` unless the content has this hash. */
export function checkContent(
  at: At,
  directory: number,
  { name, shown, expected }: Pick<Replacement, "name" | "shown" | "expected">,
): void {
  if (expected === undefined) return;
  const now = hashFile(at, directory, name);
  if (now === expected) return;
  throw changedSinceError(shown);
}

export function changedSinceError(shown: string): ToolError {
  return new ToolError("changed_since", `${shown} has changed since it was read; read it again first`);
}

/** Null: no regular file of that name. */
function hashFile(at: At, directory: number, name: string): string | null {
  let fd: number;
  try {
    fd = at.openFile(directory, name, O_RDONLY);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, read));
    }
    return hash.digest("hex");
  } finally {
    at.close(fd);
  }
}

export function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const written = writeSync(fd, bytes, at);
    if (written === 0) throw new ToolError("disk_full", "the disk is full");
    at += written;
  }
}
