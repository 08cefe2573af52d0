// Reads a configuration file: a regular file of at most 1 MiB that holds one JSON object in UTF-8.
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError, errnoOf } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { type FileBytes, isLink, readBoundedFile, textOf, unreadable } from "./bounded-file.ts";
import { parseJsonText } from "./json-text.ts";

const MAX_BYTES = 1_048_576;

export interface ConfigText extends Omit<FileBytes, "bytes"> {
  value: JsonObject;
}

/** Undefined: there is no such file. It may be a link: people keep their configuration elsewhere. */
export async function readConfigFile(path: string): Promise<ConfigText | undefined> {
  return parsed(await readBoundedFile(path, { maxBytes: MAX_BYTES, followsLinks: true }));
}

/** The project's own: in a directory and a file that are no links, so that a repository cannot point elsewhere. */
export async function readProjectFile(cwd: string): Promise<ConfigText | undefined> {
  return parsed(await readProjectBytes(cwd));
}

/** The same, as it stands there. */
export async function readProjectBytes(cwd: string): Promise<FileBytes | undefined> {
  const path = join(await realpath(cwd), ".demian", "config.json");
  const stat = await lstat(dirname(path)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw unreadable(path, error);
  });
  if (stat === undefined || stat.isFile()) return undefined;
  if (!stat.isDirectory()) throw isLink(dirname(path));
  const file = await readBoundedFile(path, { maxBytes: MAX_BYTES, followsLinks: false });
  if (file !== undefined && (await realpath(path)) !== path) throw isLink(dirname(path));
  return file;
}

function parsed(file: FileBytes | undefined): ConfigText | undefined {
  if (file === undefined) return undefined;
  const { bytes: _, ...rest } = file;
  return { ...rest, value: parse(textOf(file), file.path) };
}

function parse(text: string, path: string): JsonObject {
  if (text.trim() === "") return {};
  const value = parseJsonText(text, path);
  if (isObject(value)) return value;
  throw new CodedError("config_invalid", `${path}: expected an object: { … }`);
}
