// What the kernel says about processes. Synchronous on purpose: a /proc file is in memory and read in microseconds, while
// each asynchronous read takes four trips through the thread pool.
import { readFileSync } from "node:fs";
import { readErrno } from "./coded-error.ts";

/** Undefined: the file does not exist (any longer), or is another user's. */
export function tryReadText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** /proc/PID/stat from its third field, the state, on; number 19 of these is the start time. Undefined: no such process. */
export function readStatFields(pid: number): string[] | undefined {
  const stat = tryReadText(`/proc/${pid}/stat`);
  // The name, the second field, may contain spaces and parentheses.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

export function readBootId(): string {
  return (tryReadText("/proc/sys/kernel/random/boot_id") ?? "").trim();
}

/** Also if it is another user's. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return readErrno(error) === "EPERM";
  }
}
