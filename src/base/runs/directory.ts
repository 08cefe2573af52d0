// The directory of one agent process: its input and output, and what a later daemon needs to take it over. Everything
// in it belongs to this user alone.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CodedError, readErrno } from "../coded-error.ts";
import { loadSystemCalls } from "./system-calls.ts";

export interface RunDirectory {
  /** Also the value of BLEMEES_RUN_ID in the environment of the process and of everything it starts. */
  readonly id: string;
  readonly path: string;
  /** The FIFO that is the agent's stdin. */
  readonly input: string;
  readonly output: string;
  readonly errors: string;
  /** What we asked the agent (record.ts). */
  readonly record: string;
  /** What the process is (description.ts). */
  readonly description: string;
  /** One snapshot per session (snapshots.ts). */
  readonly sessions: string;
}

const OTHERS = 0o077;
/**
 * With less free space an agent gets pipes instead of files; with less than half of it, one that has files is stopped
 * until there is space.
 */
export const MIN_FREE_BYTES = 64 * 1024 * 1024;

function runDirectory(root: string, id: string): RunDirectory {
  const path = join(root, id);
  return {
    id,
    path,
    input: join(path, "in"),
    output: join(path, "out"),
    errors: join(path, "err"),
    record: join(path, "record"),
    description: join(path, "run.json"),
    sessions: join(path, "sessions"),
  };
}

/** Throws if it cannot be created, and leaves nothing behind. */
export function createRunDirectory(root: string): RunDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  checkPrivate(root, lstatSync(root), "directory");
  if (freeBytes(root) < MIN_FREE_BYTES) throw unusableError(`${root} is on a disk that is nearly full`);
  const directory = runDirectory(root, randomUUID());
  mkdirSync(directory.path, { mode: 0o700 });
  try {
    loadSystemCalls().makeFifo(directory.input);
    for (const file of [directory.output, directory.errors, directory.record]) {
      writeFileSync(file, "", { mode: 0o600, flag: "wx" });
    }
    mkdirSync(directory.sessions, { mode: 0o700 });
    return directory;
  } catch (error) {
    removeRunDirectory(directory);
    throw error;
  }
}

/** stdin, stdout and stderr for the process; the caller closes them after the start. */
export function openForChild(directory: RunDirectory): number[] {
  const opened: number[] = [];
  try {
    // For reading and writing, and blocking: the process is its own writer, so it never sees the end of its input.
    const input = openSync(directory.input, constants.O_RDWR);
    opened.push(input);
    loadSystemCalls().growFifo(input);
    for (const file of [directory.output, directory.errors]) opened.push(openSync(file, "a"));
    return opened;
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

/** Every run directory, usable or not; empty if there are none, or if the root is unreadable. */
export function listRunDirectories(root: string, unreadable?: (error: unknown) => void): RunDirectory[] {
  try {
    return readdirSync(root).map((name) => runDirectory(root, name));
  } catch (error) {
    if (readErrno(error) !== "ENOENT") unreadable?.(error);
    return [];
  }
}

/** Throws, with the reason, if another user could have written to it. */
export function checkRunDirectory(directory: RunDirectory): void {
  checkDescription(directory);
  checkPrivate(directory.sessions, lstatSync(directory.sessions), "directory");
  checkPrivate(directory.input, lstatSync(directory.input), "FIFO");
  for (const file of [directory.output, directory.errors, directory.record]) {
    checkPrivate(file, lstatSync(file), "file");
  }
}

/** The same for run.json alone. */
export function checkDescription({ path, description }: RunDirectory): void {
  checkPrivate(path, lstatSync(path), "directory");
  checkPrivate(description, lstatSync(description), "file");
}

/** Space that this user can still use on the disk of a directory; unlimited if unknown. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Never throws: what cannot be removed now is removed at the next start. */
export function removeRunDirectory(directory: RunDirectory): void {
  try {
    rmSync(directory.path, { recursive: true, force: true });
  } catch {
    // A descendant may still hold a file open on a network file system.
  }
}

type Kind = "directory" | "FIFO" | "file";

function checkPrivate(path: string, stats: Stats, kind: Kind): void {
  const isKind = { directory: stats.isDirectory(), FIFO: stats.isFIFO(), file: stats.isFile() }[kind];
  if (!isKind) throw unusableError(`${path} is not a ${kind}`);
  if (stats.uid !== process.getuid?.()) throw unusableError(`${path} belongs to another user`);
  if ((stats.mode & OTHERS) !== 0) {
    const mode = kind === "directory" ? "0700" : "0600";
    throw unusableError(`${path} is accessible to other users; its mode must be ${mode}`);
  }
  if (kind !== "directory" && stats.nlink !== 1) throw unusableError(`${path} has more than one hard link`);
}

export function unusableError(message: string, cause?: unknown): CodedError {
  return new CodedError("run_unusable", message, { cause });
}
