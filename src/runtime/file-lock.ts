// A lock file among processes, held for a few milliseconds. For longer locks see process-lock.ts.
import { randomUUID } from "node:crypto";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { CodedError, readErrno } from "../base/coded-error.ts";

/** The holder writes one small file: after this long it is dead. */
const STALE_MS = 10_000;
const LIMIT_MS = 15_000;
const POLL_MS = 5;

export async function withFileLock<T>(path: string, operation: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await take(path))) {
    if (performance.now() > deadline) {
      throw new CodedError("locked", `${path} is locked by another process; delete it if none is running`);
    }
    await removeStale(path);
    await wait(POLL_MS + Math.random() * POLL_MS);
  }
  try {
    return await operation();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (readErrno(error) === "EEXIST") return false;
    throw error;
  }
}

/** Renamed first: only one of several finders succeeds, and one that moved a fresh lock puts it back. */
async function removeStale(path: string): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  if (before === undefined || Date.now() - before.mtimeMs < STALE_MS) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await stat(aside)).ino !== before.ino) await link(aside, path);
  } catch (error) {
    if (readErrno(error) !== "ENOENT" && readErrno(error) !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}
