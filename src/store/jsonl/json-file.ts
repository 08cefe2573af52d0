// The small files beside a log: read whole, replaced whole and synced. One that is damaged is put aside and reported.

import { timestamp } from "../../base/timestamp.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import { openIfThere, readAll, replaceFile, syncDirectory, unlinkIfThere, writeAll } from "../disk/whole.ts";
import type { DriverOptions } from "../types.ts";

export interface JsonFileOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
}

export function writeJsonFile({ fs, dir }: JsonFileOptions, path: string, value: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  replaceFile(fs, path, (fd) => writeAll(fs, fd, bytes, 0));
  syncDirectory(fs, dir);
}

export interface JsonFile<T> {
  path: string;
  session_id: string;
  /** Gives the file up by answering undefined. */
  parse(value: unknown, mtimeMs: number): T | undefined;
  /** What stands in the place of a file that was given up, and is written there. Without it the file goes. */
  rebuild?: () => T;
}

/** What the file says; undefined when there is none. One that was given up is put aside. */
export function readJsonFile<T>(options: JsonFileOptions, file: JsonFile<T>): T | undefined {
  const { fs } = options;
  const fd = openIfThere(fs, file.path);
  if (fd === undefined) return undefined;
  try {
    const { size, mtimeMs } = fs.fstatSync(fd);
    const bytes = Buffer.alloc(size);
    const text = bytes.subarray(0, readAll(fs, fd, bytes, 0)).toString("utf8");
    const value = parseJson(text);
    const found = value === undefined ? undefined : file.parse(value, Math.trunc(mtimeMs));
    return found ?? giveUp(options, file, { fd, size });
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

function giveUp<T>(
  { fs, now, onRecovery }: JsonFileOptions,
  { path, session_id, rebuild }: JsonFile<T>,
  { fd, size }: { fd: number; size: number },
): T | undefined {
  const aside = setAside(fs, { fd, path, start: 0 }, timestamp(now()));
  if (rebuild === undefined) unlinkIfThere(fs, path);
  const value = rebuild?.();
  const message = "it was damaged; what the log tells of it was written anew";
  onRecovery({ session_id, kept_seq: 0, cut_bytes: size, aside, ...(rebuild !== undefined && { message }) });
  return value;
}
