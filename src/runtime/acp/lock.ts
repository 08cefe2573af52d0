// Says that a session is open in this process. Advisory: it keeps two processes from writing one history.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";

/** Takes the lock; a dead process's lock is taken over. Throws `session_locked`. Gives back how to free it. */
export function takeLock(path: string, what: string): () => void {
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeDraft(draft, mine, what);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (linked(draft, path)) return () => freeLock(path, mine);
      const holder = readHolder(path);
      if (holder === undefined) continue;
      if (holder.isAlive) throw locked(what, holder.pid);
      moveAside(path, holder.text, `${draft}.stale`);
    }
  } finally {
    remove(draft);
  }
  throw locked(what);
}

function writeDraft(draft: string, text: string, what: string): void {
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const message = `${what} cannot be opened, because nothing can be written where it is kept: ${messageOf(cause)}`;
    throw new CodedError("not_writable", message, { cause });
  }
}

function locked(what: string, pid?: number): CodedError {
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return new CodedError("session_locked", `${what} is open in ${who}; close it there first`);
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

function readHolder(path: string): { text: string; pid?: number; isAlive: boolean } | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { pid, started } = JSON.parse(text) as { pid: number; started?: string };
    const now = startOf(pid);
    return { text, pid, isAlive: now !== undefined && now === started };
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

function freeLock(path: string, mine: string): void {
  if (readHolder(path)?.text === mine) remove(path);
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
