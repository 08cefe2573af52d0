// The calls the JSONL driver and the journal make on the disk, as an interface, so that a test can let any of
// them fail or lose what was not synced.
import * as fs from "node:fs";

export interface FileSystem {
  openSync(path: string, flags: string, mode?: number): number;
  closeSync(fd: number): void;
  /** May write less than asked for without throwing. */
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  ftruncateSync(fd: number, length: number): void;
  fdatasyncSync(fd: number): void;
  /** Of a directory: makes names created, renamed or removed in it durable. */
  fsyncSync(fd: number): void;
  fstatSync(fd: number): { size: number; mtimeMs: number };
  futimesSync(fd: number, atime: Date, mtime: Date): void;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  readdirSync(path: string): string[];
  mkdirSync(path: string, options: { recursive: true; mode: number }): void;
}

export const nodeFileSystem: FileSystem = fs;
