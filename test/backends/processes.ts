// Looking at processes from outside, as a user with `ps` would: a zombie counts as gone.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { vi } from "vitest";

export function isRunning(pid: number): boolean {
  const state = readState(pid);
  return state !== undefined && !state.startsWith("Z") && !state.startsWith("X");
}

/** As in `ps -o stat`. */
function readState(pid: number): string | undefined {
  try {
    // Linux: without a process, which takes 15 ms that tests spend again and again while they wait.
    if (process.platform === "linux") return /\) (\S)/.exec(readStat(pid))?.[1];
    return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The name, in parentheses, may contain some itself. */
function readStat(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")"));
}

/** The pid that a shell wrote with `echo $$ > file`. */
export function pidIn(file: string): Promise<number> {
  return vi.waitFor(
    () => {
      const pid = Number(readFileSync(file, "utf8").trim());
      if (!(pid > 0)) throw new Error(`${file} holds no pid yet`);
      return pid;
    },
    { timeout: 45_000, interval: 5 },
  );
}
