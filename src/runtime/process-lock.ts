// A file that says: this process has that open, for as long as it lives. Advisory: it keeps two processes from going on with
// one conversation, or from renewing one login. For a few milliseconds there is file-lock.ts.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { CodedError, errnoOf, messageOf } from "../base/coded-error.ts";

export interface LockOptions {
  /** Who holds it shows that often that it does; who has not for `staleMs` counts as gone though its process is there. */
  beatMs?: number;
  staleMs?: number;
  /** What to do while another has it; default: "close it there first". */
  advice?: string;
}

interface Holder {
  text: string;
  pid?: number;
  isAlive: boolean;
}

/** Takes the lock; a dead process's lock is taken over. Throws `session_locked`. Gives back how to free it. */
export function takeLock(path: string, what: string, options: LockOptions = {}): () => void {
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), id: randomUUID() });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeDraft(draft, mine, what);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (linked(draft, path)) return held(path, mine, options.beatMs);
      const holder = readHolder(path, options.staleMs);
      if (holder === undefined) continue;
      if (holder.isAlive) throw locked(what, options, holder.pid);
      moveAside(path, holder.text, `${draft}.stale`);
    }
  } finally {
    remove(draft);
  }
  throw locked(what, options);
}

function held(path: string, mine: string, beatMs: number | undefined): () => void {
  const timer = beatMs === undefined ? undefined : setInterval(() => beat(path, mine), beatMs).unref();
  return () => {
    clearInterval(timer);
    if (readHolder(path)?.text === mine) remove(path);
  };
}

function beat(path: string, mine: string): void {
  try {
    const now = new Date();
    if (readFileSync(path, "utf8") === mine) utimesSync(path, now, now);
  } catch {
    // Somebody removed it: there is nothing to keep fresh.
  }
}

function writeDraft(draft: string, text: string, what: string): void {
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const message = `${what} cannot be opened, because nothing can be written where it is kept: ${messageOf(cause)}`;
    throw new CodedError("not_writable", message, { cause });
  }
}

function locked(what: string, { advice = "close it there first" }: LockOptions, pid?: number): CodedError {
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return new CodedError("session_locked", `${what} is open in ${who}; ${advice}`);
}

/** A hard link appears whole or not at all, so nobody reads half a lock. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
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
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { pid, started } = JSON.parse(text) as { pid: number; started?: string };
    const now = startOf(pid);
    return { text, pid, isAlive: now !== undefined && now === started && ageMs < staleMs };
  } catch {
    // No lock of ours looks like this: nobody holds it.
    return { text, isAlive: false };
  }
}

/** Two may find the same dead lock: who moves a lock that is not the one it read puts it back. */
function moveAside(path: string, expected: string, aside: string): void {
  try {
    renameSync(path, aside);
    if (readFileSync(aside, "utf8") !== expected) linked(aside, path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  } finally {
    remove(aside);
  }
}

function remove(path: string): void {
  rmSync(path, { force: true });
}

/** Tells a process from a later one with its number; undefined: there is none. */
function startOf(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform !== "linux") return isThere(pid) ? "there" : undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything; state and start time stand behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : `${bootId()}:${fields[19]}`;
  } catch {
    // No such process, or not ours to see.
    return undefined;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}
