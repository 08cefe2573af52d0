// A lock file held for the lifetime of a process. Advisory: it keeps two processes from continuing one conversation or
// renewing one login. For short locks see file-lock.ts.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { isRunning, readBootId, readStatFields } from "../base/proc.ts";

export interface LockOptions {
  /**
   * The holder touches the file every `beatMs`; without a touch for `staleMs` it counts as dead even if the process
   * exists.
   */
  beatMs?: number;
  staleMs?: number;
  /** Advice while another process holds it; default: "close it there first". */
  advice?: string;
}

interface Holder {
  text: string;
  pid?: number;
  isAlive: boolean;
}

/** Takes the lock, also from a dead process, and returns a function that releases it. Throws `session_locked`. */
export function takeLock(path: string, what: string, options: LockOptions = {}): () => void {
  const mine = JSON.stringify({ pid: process.pid, started: readStartTime(process.pid), id: randomUUID() });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeDraft(draft, mine, what);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (tryLink(draft, path)) return keepLock(path, mine, options.beatMs);
      const holder = readHolder(path, options.staleMs);
      if (holder === undefined) continue;
      if (holder.isAlive) throw lockedError(what, options, holder.pid);
      moveAside(path, holder.text, `${draft}.stale`);
    }
  } finally {
    remove(draft);
  }
  throw lockedError(what, options);
}

/** The process that holds the lock, if it is alive. */
export function findLockHolder(path: string): number | undefined {
  const holder = readHolder(path);
  return holder?.isAlive === true ? holder.pid : undefined;
}

function keepLock(path: string, mine: string, beatMs: number | undefined): () => void {
  const timer = beatMs === undefined ? undefined : setInterval(() => touchLock(path, mine), beatMs).unref();
  return () => {
    clearInterval(timer);
    if (readHolder(path)?.text === mine) remove(path);
  };
}

function touchLock(path: string, mine: string): void {
  try {
    const now = new Date();
    if (readFileSync(path, "utf8") === mine) utimesSync(path, now, now);
  } catch {
    // Already removed.
  }
}

function writeDraft(draft: string, text: string, what: string): void {
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const message = `${what} cannot be opened: its directory is not writable: ${toMessage(cause)}`;
    throw new CodedError("not_writable", message, { cause });
  }
}

function lockedError(
  what: string,
  { advice = "close it there first" }: LockOptions,
  pid?: number,
): CodedError {
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return new CodedError("session_locked", `${what} is open in ${who}; ${advice}`);
}

/** A hard link appears atomically, so no reader sees a partial lock. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (readErrno(error) === "EEXIST") return false;
    throw error;
  }
}

function readHolder(path: string, staleMs = Number.POSITIVE_INFINITY): Holder | undefined {
  let text: string;
  let ageMs: number;
  try {
    ageMs = Date.now() - statSync(path).mtimeMs;
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { pid, started } = JSON.parse(text) as { pid: number; started?: string };
    const now = readStartTime(pid);
    return { text, pid, isAlive: now !== undefined && now === started && ageMs < staleMs };
  } catch {
    // Not one of our locks: free.
    return { text, isAlive: false };
  }
}

/** Two processes may find the same dead lock: one that moved a different lock than it read puts it back. */
function moveAside(path: string, expected: string, aside: string): void {
  try {
    renameSync(path, aside);
    if (readFileSync(aside, "utf8") !== expected) tryLink(aside, path);
  } catch (error) {
    if (readErrno(error) !== "ENOENT") throw error;
  } finally {
    remove(aside);
  }
}

function remove(path: string): void {
  rmSync(path, { force: true });
}

/** Start time of a process, to detect a reused pid; undefined: no such process. */
function readStartTime(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform !== "linux") return isRunning(pid) ? "there" : undefined;
  const fields = readStatFields(pid);
  return fields === undefined || fields[0] === "Z" ? undefined : `${readBootId()}:${fields[19]}`;
}
