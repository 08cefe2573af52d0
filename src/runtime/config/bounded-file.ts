// Reads a file that somebody else may have put there: a regular one, of a bounded length, without waiting for a pipe.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";

export interface FileBytes {
  path: string;
  bytes: Buffer;
  /** Of the bytes, in hex. */
  sha256: string;
  /** Tells two names of one file. */
  identity: string;
  isWritableByOthers: boolean;
}

export interface ReadOrder {
  maxBytes: number;
  /** The file itself may be a link. */
  followsLinks: boolean;
}

/** Undefined: there is no such file. Throws `config_invalid`. */
export async function readBoundedFile(path: string, order: ReadOrder): Promise<FileBytes | undefined> {
  let file: FileHandle;
  try {
    const flags = order.followsLinks ? 0 : constants.O_NOFOLLOW;
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP") throw isLink(path);
    throw unreadable(path, error);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new CodedError("config_invalid", `${path} is no regular file`);
    const bytes = await readAll(file, path, order.maxBytes);
    return {
      path,
      bytes,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      identity: `${stat.dev}:${stat.ino}`,
      isWritableByOthers: (stat.mode & 0o002) !== 0,
    };
  } catch (error) {
    throw error instanceof CodedError ? error : unreadable(path, error);
  } finally {
    await file.close();
  }
}

/** Throws `config_invalid`. */
export function textOf({ path, bytes }: Pick<FileBytes, "path" | "bytes">): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CodedError("config_invalid", `${path} is not UTF-8; save it as UTF-8`, { cause });
  }
}

export function isLink(path: string): CodedError {
  return new CodedError(
    "config_invalid",
    `${path} is a symbolic link; a project's configuration must lie in the project itself. Replace the link, or remove it`,
  );
}

export function unreadable(path: string, cause: unknown): CodedError {
  return new CodedError("config_invalid", `cannot read ${path}: ${messageOf(cause)}`, { cause });
}

async function readAll(file: FileHandle, path: string, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  throw new CodedError("config_invalid", `${path} is longer than ${sizeText(maxBytes)}`);
}

function sizeText(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1024} KiB`;
}
