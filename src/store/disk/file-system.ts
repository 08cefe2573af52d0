// The file system calls of the store as an interface, so that tests can make any of them fail or lose unsynced data.
import * as fs from "node:fs";

export interface FileSystem {
  openSync(path: string, flags: string, mode?: number): number;
  closeSync(fd: number): void;
  /** May write less than requested without throwing. */
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  ftruncateSync(fd: number, length: number): void;
  fdatasyncSync(fd: number): void;
  /** On a directory: makes created, renamed and removed names durable. */
  fsyncSync(fd: number): void;
  fstatSync(fd: number): { size: number; mtimeMs: number };
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  readdirSync(path: string): string[];
  mkdirSync(path: string, options: { recursive: true; mode: number }): void;
}

export const nodeFileSystem: FileSystem = fs;
