// Names looked up from an open directory, one component at a time, never through a link: openat(2) and its family.
// Node has none of it. Linux lends it by /proc/self/fd; elsewhere, and where /proc is missing, the C library is called.
import type { Stats } from "node:fs";

/**
 * Directories are numbers of open descriptors, names single components (`checkName`). Everything is synchronous: each
 * call is one look-up, and a descriptor cannot get lost between two. Throws errors with `code`, as node:fs does.
 */
export interface At {
  readonly kind: "proc" | "koffi";
  /** Of what was opened here. */
  close(fd: number): void;
  /** ELOOP or ENOTDIR when it is a link or no directory. */
  openDirectory(directory: number, name: string): number;
  /** The same directory once more, with a handle and a position of its own. */
  reopen(directory: number): number;
  /** `flags` of node:fs; never follows a link, never waits for the other end of a pipe. */
  openFile(directory: number, name: string, flags: number, mode?: number): number;
  /** Of the link itself, where it is one. */
  stat(directory: number, name: string): Stats;
  readLink(directory: number, name: string): string;
  makeDirectory(directory: number, name: string, mode: number): void;
  /** Within one directory; replaces. */
  rename(directory: number, from: string, to: string): void;
  unlink(directory: number, name: string): void;
  /** Names only, without "." and "..". */
  list(directory: number): string[];
}

/** The caller splits paths; a name that could leave the directory here is a fault of ours, not of the model. */
export function checkName(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
    throw new Error(`${JSON.stringify(name)} is no name of a file`);
  }
  return name;
}
