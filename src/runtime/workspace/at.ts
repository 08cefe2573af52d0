// Looks up names from an open directory, one component at a time, never through a link: openat(2) and related calls,
// which Node lacks. On Linux through /proc/self/fd; elsewhere, or without /proc, through the C library.
import type { Stats } from "node:fs";

/**
 * Directories are open descriptors, names single components (`checkName`). Synchronous: each call is one lookup, and no
 * descriptor can leak in between. Throws errors with `code`, as node:fs does.
 */
export interface At {
  readonly kind: "proc" | "koffi";
  /** Closes a descriptor opened here. */
  close(fd: number): void;
  /** ELOOP or ENOTDIR if it is a link or not a directory. */
  openDirectory(directory: number, name: string): number;
  /** The same directory with its own descriptor and position. */
  reopen(directory: number): number;
  /** `flags` of node:fs; never follows a link, never blocks on a pipe. */
  openFile(directory: number, name: string, flags: number, mode?: number): number;
  /** Of the link itself, if it is one. */
  stat(directory: number, name: string): Stats;
  readLink(directory: number, name: string): string;
  makeDirectory(directory: number, name: string, mode: number): void;
  /** Within one directory; replaces. */
  rename(directory: number, from: string, to: string): void;
  unlink(directory: number, name: string): void;
  /** Names only, without "." and "..". */
  list(directory: number): string[];
}

/** The caller splits paths; a name that could leave the directory is our bug, not the model's mistake. */
export function checkName(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
    throw new Error(`${JSON.stringify(name)} is not a valid file name`);
  }
  return name;
}
