// The processes of one session, seen from outside: everything that carries its id in the environment.
import { readdirSync, readFileSync } from "node:fs";
import { vi } from "vitest";

export interface Process {
  pid: number;
  command: string;
}

export function processesOf(session_id: string): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      if (!environment.split("\0").includes(`BLEMEES_SESSION_ID=${session_id}`)) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command !== "") found.push({ pid: Number(name), command });
    } catch {
      // It went away while we looked.
    }
  }
  return found;
}

/** Waits until a process whose command holds these words is there. */
export function untilRuns(session_id: string, words: string): Promise<Process> {
  return vi.waitFor(
    () => {
      const found = processesOf(session_id).find((process) => process.command.startsWith(words));
      if (found === undefined) throw new Error(`"${words}" does not run in session ${session_id}`);
      return found;
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** Waits until nothing of the session is left but what passes. */
export function untilGone(session_id: string, words = ""): Promise<void> {
  return vi.waitFor(
    () => {
      const left = processesOf(session_id).filter((process) => process.command.includes(words));
      if (left.length > 0) throw new Error(`still there: ${JSON.stringify(left)}`);
    },
    { timeout: 5_000, interval: 20 },
  );
}
