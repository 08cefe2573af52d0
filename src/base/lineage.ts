// A process and its ancestors, as the kernel shows them: who started the process at the other end of a connection. Linux
// only; elsewhere nothing is known.
import { readStatFields, tryReadText } from "./proc.ts";

export interface LineageProcess {
  readonly pid: number;
  /** A variable of the environment it was started with; undefined if it has none, or it cannot be read. */
  read(name: string): string | undefined;
}

export interface Lineage {
  /** `gone`: the process has exited, or its pid belongs to another one now. `unknown`: not available on this system. */
  readonly state: "found" | "gone" | "unknown";
  /** The process itself first. Neither this process nor init. */
  readonly processes: readonly LineageProcess[];
}

/** Deeper trees do not occur. */
const MAX_DEPTH = 64;
const NEVER = -1;
const UNKNOWN: Lineage = { state: "unknown", processes: [] };

/**
 * Synchronous: a /proc file is in memory and read in microseconds. `started`: from `readStartTime`, when the pid was learned;
 * pids are reused.
 */
export function readLineage(pid: number | undefined, started?: number): Lineage {
  if (process.platform !== "linux" || pid === undefined) return UNKNOWN;
  const first = readStat(pid);
  if (first === undefined || (started !== undefined && first.started !== started))
    return { state: "gone", processes: [] };
  const processes: LineageProcess[] = [];
  let next: Stat | undefined = first;
  while (next !== undefined && next.pid > 1 && next.pid !== process.pid && processes.length < MAX_DEPTH) {
    processes.push(toProcess(next.pid));
    next = readStat(next.ppid);
  }
  return { state: "found", processes };
}

/** When the process started, in ticks since boot; a time that no process has if it has exited. */
export function readStartTime(pid: number): number {
  return readStat(pid)?.started ?? NEVER;
}

interface Stat {
  pid: number;
  ppid: number;
  started: number;
}

function readStat(pid: number): Stat | undefined {
  const fields = readStatFields(pid);
  return fields && { pid, ppid: Number(fields[1]), started: Number(fields[19]) };
}

function toProcess(pid: number): LineageProcess {
  let environment: string[] | undefined;
  return {
    pid,
    read(name) {
      environment ??= (tryReadText(`/proc/${pid}/environ`) ?? "").split("\0");
      return environment.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
    },
  };
}
