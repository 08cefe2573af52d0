// Reads a configuration file: a regular file of at most 1 MiB that holds one JSON object in UTF-8.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { parseJsonText } from "./json-text.ts";

const MAX_BYTES = 1_048_576;

export interface ConfigText {
  path: string;
  value: JsonObject;
  /** SHA-256 of the bytes, in hex. */
  sha256: string;
  /** Tells two names of one file. */
  identity: string;
  isWritableByOthers: boolean;
}

/** Undefined: there is no such file. It may be a link: people keep their configuration elsewhere. */
export async function readConfigFile(path: string): Promise<ConfigText | undefined> {
  return await read(path, 0);
}

/** The project's own: in a directory and a file that are no links, so that a repository cannot point elsewhere. */
export async function readProjectFile(cwd: string): Promise<ConfigText | undefined> {
  const path = join(await realpath(cwd), ".demian", "config.json");
  const stat = await lstat(dirname(path)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw unreadable(path, error);
  });
  if (stat === undefined || stat.isFile()) return undefined;
  if (!stat.isDirectory()) throw isLink(dirname(path));
  const text = await read(path, constants.O_NOFOLLOW);
  if (text !== undefined && (await realpath(path)) !== path) throw isLink(dirname(path));
  return text;
}

async function read(path: string, flags: number): Promise<ConfigText | undefined> {
  let file: FileHandle;
  try {
    // A pipe of that name must not keep us waiting.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP") throw isLink(path);
    throw unreadable(path, error);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new CodedError("config_invalid", `${path} is no regular file`);
    const bytes = await readBounded(file, path);
    return {
      path,
      value: parse(bytes, path),
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

async function readBounded(file: FileHandle, path: string): Promise<Buffer> {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  throw new CodedError("config_invalid", `${path} is longer than 1 MiB`);
}

function parse(bytes: Buffer, path: string): JsonObject {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CodedError("config_invalid", `${path} is not UTF-8; save it as UTF-8`, { cause });
  }
  if (text.trim() === "") return {};
  const value = parseJsonText(text, path);
  if (isObject(value)) return value;
  throw new CodedError("config_invalid", `${path}: expected an object: { … }`);
}

function isLink(path: string): CodedError {
  return new CodedError(
    "config_invalid",
    `${path} is a symbolic link; a project's configuration must lie in the project itself. Replace the link, or remove it`,
  );
}

function unreadable(path: string, cause: unknown): CodedError {
  return new CodedError("config_invalid", `cannot read ${path}: ${messageOf(cause)}`, { cause });
}
