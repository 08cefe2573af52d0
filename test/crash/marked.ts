// Processes that a daemon started, found from outside by the marker in their environment (Linux).
import { readdirSync, readFileSync } from "node:fs";

export interface Marked {
  pid: number;
  /** `<one run of a daemon>@<its socket>` */
  daemon: string;
}

/** Living processes (no zombies) whose daemon listens, or listened, on this socket. */
export function markedProcesses(socket: string): Marked[] {
  const found: Marked[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      const daemon = /(?:^|\0)BLEMEES_DAEMON_ID=([^\0]*)/.exec(environment)?.[1];
      if (daemon?.endsWith(`@${socket}`) && environment !== "") found.push({ pid: Number(name), daemon });
    } catch {
      // It went away while we looked.
    }
  }
  return found;
}

export function zombiesOf(pid: number): number {
  let count = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" && Number(parent) === pid) count += 1;
    } catch {
      // It went away while we looked.
    }
  }
  return count;
}
