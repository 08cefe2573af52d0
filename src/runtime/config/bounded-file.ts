// Reads an untrusted file: regular, bounded in size, without blocking on a pipe.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { CodedError, readErrno, toMessage } from "../../base/coded-error.ts";

export interface FileBytes {
  path: string;
  bytes: Buffer;
  /** Hash of the bytes, in hex. */
  sha256: string;
  /** Identifies a file under two names. */
  identity: string;
  isWritableByOthers: boolean;
  /** Bytes of the file that were not read; only with `isCut`. */
  omittedBytes?: number;
}

export interface ReadOrder {
  maxBytes: number;
  /** Whether the file itself may be a link. */
  followsLinks: boolean;
  /** Reads the start of a file that is too large, instead of throwing. */
  isCut?: true;
  /** Throws if the open file may not be used. */
  check?(descriptor: number): Promise<void>;
}

/** Undefined: no such file. Throws `config_invalid`. */
export async function readBoundedFile(path: string, order: ReadOrder): Promise<FileBytes | undefined> {
  let file: FileHandle;
  try {
    const flags = order.followsLinks ? 0 : constants.O_NOFOLLOW;
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    if (readErrno(error) === "ELOOP") throw linkError(path);
    throw unreadableError(path, error);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new CodedError("config_invalid", `${path} is not a regular file`);
    await order.check?.(file.fd);
    const bytes = await readAll(file, path, order);
    const omittedBytes = stat.size - bytes.length;
    return {
      path,
      bytes,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      identity: `${stat.dev}:${stat.ino}`,
      isWritableByOthers: (stat.mode & 0o002) !== 0,
      ...(order.isCut === true && omittedBytes > 0 ? { omittedBytes } : {}),
    };
  } catch (error) {
    throw error instanceof CodedError ? error : unreadableError(path, error);
  } finally {
    await file.close();
  }
}

/** Throws `config_invalid`. */
export function decodeFile({ path, bytes }: Pick<FileBytes, "path" | "bytes">): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CodedError("config_invalid", `${path} is not UTF-8; save it as UTF-8`, { cause });
  }
}

export function linkError(path: string): CodedError {
  return new CodedError(
    "config_invalid",
    `${path} is a symbolic link; a project's configuration must be inside the project. Replace or remove the link`,
  );
}

export function unreadableError(path: string, cause: unknown): CodedError {
  return new CodedError("config_invalid", `cannot read ${path}: ${toMessage(cause)}`, { cause });
}

async function readAll(file: FileHandle, path: string, { maxBytes, isCut }: ReadOrder): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  if (isCut === true) return buffer.subarray(0, maxBytes);
  throw new CodedError("config_invalid", `${path} is larger than ${formatSize(maxBytes)}`);
}

function formatSize(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1024} KiB`;
}
