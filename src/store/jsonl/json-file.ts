// The small files beside a log: read whole, replaced whole and synced. One that is damaged is put aside and reported.
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import { openIfThere, readAll, replaceFile, syncDirectory, unlinkIfThere, writeAll } from "../disk/whole.ts";
import { timestamp } from "../timestamp.ts";
import type { DriverOptions } from "../types.ts";

export interface JsonFileOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
}

export interface JsonFile {
  path: string;
  session_id: string;
}

export function writeJsonFile({ fs, dir }: JsonFileOptions, path: string, value: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  replaceFile(fs, path, (fd) => writeAll(fs, fd, bytes, 0));
  syncDirectory(fs, dir);
}

/** What `parse` makes of the file; undefined when there is none, or when `parse` gave it up and it was put aside. */
export function readJsonFile<T>(
  options: JsonFileOptions,
  file: JsonFile,
  parse: (value: unknown, mtimeMs: number) => T | undefined,
): T | undefined {
  const { fs } = options;
  const fd = openIfThere(fs, file.path);
  if (fd === undefined) return undefined;
  try {
    const { size, mtimeMs } = fs.fstatSync(fd);
    const bytes = Buffer.alloc(size);
    const text = bytes.subarray(0, readAll(fs, fd, bytes, 0)).toString("utf8");
    const value = parseJson(text);
    const found = value === undefined ? undefined : parse(value, Math.trunc(mtimeMs));
    if (found === undefined) putAside(options, file, { fd, size });
    return found;
  } finally {
    fs.closeSync(fd);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function putAside(
  { fs, now, onRecovery }: JsonFileOptions,
  { path, session_id }: JsonFile,
  { fd, size }: { fd: number; size: number },
): void {
  const aside = setAside(fs, { fd, path, start: 0 }, timestamp(now()));
  unlinkIfThere(fs, path);
  onRecovery({ session_id, kept_seq: 0, cut_bytes: size, aside });
}
