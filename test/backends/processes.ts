// Looking at processes from outside, as a user with `ps` would: a zombie counts as gone.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { vi } from "vitest";

export function isRunning(pid: number): boolean {
  try {
    const state = execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return state !== "" && !state.startsWith("Z");
  } catch {
    return false;
  }
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
