// Files that decide what is allowed: read only if nobody else could have written them, replaced as a whole.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CodedError, readErrno } from "./coded-error.ts";

const MAX_BYTES = 1_048_576;

/** Undefined: no such file. Throws `state_unusable` if it is too long or others could have written it. */
export async function readPrivate(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    if (readErrno(error) === "ELOOP") throw unusableError(path, "is a symbolic link; delete it");
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw unusableError(path, "is not a regular file; delete it");
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw unusableError(path, "belongs to another user; delete it");
    }
    if ((stat.mode & 0o022) !== 0)
      throw unusableError(path, "can be written by others; run chmod 600 on it if it is yours");
    if (stat.size > MAX_BYTES) throw unusableError(path, "is larger than 1 MiB; delete it");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Replaces the whole file, mode 0600, in a directory private to the user. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await ensurePrivateDir(dirname(path));
  await replaceWhole(path, text);
}

/** Replaces a file by one that is complete. `prepare`: called before anything is written. */
export async function replaceWhole(
  path: string,
  text: string,
  prepare?: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await prepare?.(file);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined); // the first error matters
    throw error;
  }
}

export async function ensurePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const stat = await lstat(path);
  const isOurs = process.getuid === undefined || stat.uid === process.getuid();
  if (stat.isDirectory() && isOurs && (stat.mode & 0o022) === 0) return;
  throw new CodedError(
    "state_unusable",
    `${path} must be a directory that you own and only you can write; check its owner and mode (chmod 700)`,
  );
}

function unusableError(path: string, fault: string): CodedError {
  return new CodedError("state_unusable", `${path} ${fault}`);
}
