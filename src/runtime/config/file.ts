// Reads a configuration file: a regular file of at most 1 MiB with one JSON object in UTF-8.
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError, readErrno } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { decodeFile, type FileBytes, linkError, readBoundedFile, unreadableError } from "./bounded-file.ts";
import { parseJsonText } from "./json-text.ts";

const MAX_BYTES = 1_048_576;

export interface ConfigText extends Omit<FileBytes, "bytes"> {
  value: JsonObject;
}

/** Undefined: no such file. It may be a link: users keep their configuration elsewhere. */
export async function readConfigFile(path: string): Promise<ConfigText | undefined> {
  return parseFile(await readBoundedFile(path, { maxBytes: MAX_BYTES, followsLinks: true }));
}

/** The project's own: neither the directory nor the file may be a link, so that a repository cannot point elsewhere. */
export async function readProjectFile(cwd: string): Promise<ConfigText | undefined> {
  return parseFile(await readProjectBytes(cwd));
}

/** The original text. */
export async function readProjectBytes(cwd: string): Promise<FileBytes | undefined> {
  const path = join(await realpath(cwd), ".demian", "config.json");
  const stat = await lstat(dirname(path)).catch((error: unknown) => {
    if (readErrno(error) === "ENOENT") return undefined;
    throw unreadableError(path, error);
  });
  if (stat === undefined || stat.isFile()) return undefined;
  if (!stat.isDirectory()) throw linkError(dirname(path));
  const file = await readBoundedFile(path, { maxBytes: MAX_BYTES, followsLinks: false });
  if (file !== undefined && (await realpath(path)) !== path) throw linkError(dirname(path));
  return file;
}

function parseFile(file: FileBytes | undefined): ConfigText | undefined {
  if (file === undefined) return undefined;
  const { bytes: _, ...rest } = file;
  return { ...rest, value: parse(decodeFile(file), file.path) };
}

function parse(text: string, path: string): JsonObject {
  if (text.trim() === "") return {};
  const value = parseJsonText(text, path);
  if (isObject(value)) return value;
  throw new CodedError("config_invalid", `${path}: expected an object: { … }`);
}
