// An agent's processes, seen from outside: everything with a marker in its environment.
import { readdirSync, readFileSync } from "node:fs";
import { expect, vi } from "vitest";
import { PATIENT } from "../support/patience.ts";

export interface Process {
  pid: number;
  command: string;
}

/** The daemon's marker in the environment of a process that serves one session. */
export function markOf(session_id: string): string {
  return `BLEMEES_SESSION_ID=${session_id}`;
}

/** `mark` is one entry of the environment: NAME=value. */
export function processesWith(mark: string): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      if (!environment.split("\0").includes(mark)) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command !== "") found.push({ pid: Number(name), command });
    } catch {
      // It went away while we looked.
    }
  }
  return found;
}

/** Waits for a process whose command starts with this text. */
export function untilRuns(mark: string, words: string): Promise<Process> {
  return vi.waitFor(() => {
    const found = processesWith(mark).find((process) => process.command.startsWith(words));
    if (found === undefined) throw new Error(`"${words}" does not run with ${mark}`);
    return found;
  }, PATIENT);
}

export function untilPidGone(pid: number): Promise<void> {
  return vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), PATIENT);
}

/** Waits until none of these processes has a command with this text. */
export function untilGone(mark: string, words = ""): Promise<void> {
  return vi.waitFor(() => {
    const left = processesWith(mark).filter((process) => process.command.includes(words));
    if (left.length > 0) throw new Error(`still there: ${JSON.stringify(left)}`);
  }, PATIENT);
}
