// Finds and ends the processes that an agent has started. Linux: /proc, by parent and by a marker in the environment, because
// a tool that calls setsid and loses its parent is in no tree. macOS: ps, by parent and process group. A pid is only
// signalled together with its start time, because pids are reused.
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { mapBounded } from "./map-bounded.ts";
import { readMonotonicMs } from "./monotonic.ts";
import { readBootId, readStatFields, tryReadText } from "./proc.ts";

export interface ProcessId {
  pid: number;
  /** Boot id and start time: the same pid with another value is another process. */
  started: string;
}

interface ProcessRow extends ProcessId {
  ppid: number;
  group: number;
}

const PARALLEL_READS = 32;
const POLL_MS = 10;
const KILL_LIMIT_MS = 1000;
const isLinux = process.platform === "linux";

/** All current descendants of `rootPid`; except on Linux, also its process group. */
export async function takeSnapshot(rootPid: number): Promise<ProcessId[]> {
  const rows = await readProcesses();
  const below = new Set([rootPid]);
  // Rows are in no useful order: repeat until a pass finds nothing new.
  for (let found = true; found; ) {
    found = false;
    for (const row of rows) {
      const belongs = below.has(row.ppid) || (!isLinux && row.group === rootPid);
      if (!belongs || below.has(row.pid)) continue;
      below.add(row.pid);
      found = true;
    }
  }
  below.delete(rootPid);
  const spared = ourselves(rows);
  return rows.filter((row) => below.has(row.pid) && !spared.has(row.pid)).map(toId);
}

/** Every process with `name=value` in its environment that passes; `read` gives its other variables. Linux only. */
export async function findByEnvironment(
  name: string,
  test: (value: string, read: (other: string) => string | undefined) => boolean,
): Promise<ProcessId[]> {
  if (!isLinux) return [];
  const rows = await readProcesses();
  const spared = ourselves(rows);
  const prefix = `${name}=`;
  const marked = await mapBounded(rows, PARALLEL_READS, async (row) => {
    if (spared.has(row.pid)) return undefined;
    const environment = tryReadText(`/proc/${row.pid}/environ`);
    if (environment?.includes(prefix) !== true) return undefined;
    const entries = environment.split("\0");
    const read = (other: string) =>
      entries.find((line) => line.startsWith(`${other}=`))?.slice(other.length + 1);
    const value = read(name);
    return value !== undefined && test(value, read) ? toId(row) : undefined;
  });
  return marked.filter((id) => id !== undefined);
}

/** Ends these processes: SIGTERM, `graceMs`, SIGKILL. Resolves within `graceMs` + 1 s with those still running. */
export async function killAll(ids: readonly ProcessId[], graceMs: number): Promise<ProcessId[]> {
  let left = await signalAll(ids, graceMs > 0 ? "SIGTERM" : "SIGKILL");
  if (graceMs > 0) {
    left = await waitUntilGone(left, graceMs);
    left = await signalAll(left, "SIGKILL");
  }
  return waitUntilGone(left, KILL_LIMIT_MS);
}

/** Whether the same process is still running; a zombie is not. */
export async function isAlive(id: ProcessId): Promise<boolean> {
  return (await readProcess(id.pid, bootId()))?.started === id.started;
}

/** Whether it was started since the machine was; false if that is unknown (macOS). */
export async function isOfThisBoot({ started }: ProcessId): Promise<boolean> {
  return isLinux && started.startsWith(`${bootId()}:`);
}

/** The process with this pid; undefined if there is none. */
export async function identify(pid: number): Promise<ProcessId | undefined> {
  const row = await readProcess(pid, bootId());
  return row === undefined ? undefined : toId(row);
}

/** Whether it started at or after this time in seconds since boot, to 10 ms; false if start times are unavailable (macOS). */
export function findStartedSince(id: ProcessId, uptimeS: number): boolean {
  // Field 22 of /proc/PID/stat counts in USER_HZ, which is 100 on every Linux that Node runs on.
  const ticks = Number(id.started.slice(id.started.lastIndexOf(":") + 1));
  return isLinux && ticks >= Math.floor(uptimeS * 100);
}

async function signalAll(ids: readonly ProcessId[], signal: NodeJS.Signals): Promise<ProcessId[]> {
  const alive = await mapBounded(ids, PARALLEL_READS, async (id) => ((await isAlive(id)) ? id : undefined));
  const targets = alive.filter((id) => id !== undefined);
  for (const { pid } of targets) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited, or is not ours: the following wait shows which.
    }
  }
  return targets;
}

async function waitUntilGone(ids: readonly ProcessId[], limitMs: number): Promise<ProcessId[]> {
  const deadline = readMonotonicMs() + limitMs;
  let left = [...ids];
  for (;;) {
    const alive = await mapBounded(left, PARALLEL_READS, async (id) =>
      (await isAlive(id)) ? id : undefined,
    );
    left = alive.filter((id) => id !== undefined);
    if (left.length === 0 || readMonotonicMs() >= deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** This process and its ancestors: the daemon itself can inherit a marker. */
function ourselves(rows: readonly ProcessRow[]): Set<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const chain = new Set<number>([1]);
  for (
    let pid: number | undefined = process.pid;
    pid !== undefined && !chain.has(pid);
    pid = parents.get(pid)
  ) {
    chain.add(pid);
  }
  return chain;
}

async function readProcesses(): Promise<ProcessRow[]> {
  if (!isLinux) return readPs(["-ax"]);
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const boot = bootId();
  const rows = await mapBounded(names, PARALLEL_READS, (name) => readProcess(Number(name), boot));
  return rows.filter((row) => row !== undefined);
}

async function readProcess(pid: number, boot: string): Promise<ProcessRow | undefined> {
  if (!isLinux) return (await readPs(["-p", String(pid)]))[0];
  const fields = readStatFields(pid);
  if (fields === undefined || fields[0] === "Z" || fields[0] === "X") return undefined;
  return { pid, ppid: Number(fields[1]), group: Number(fields[2]), started: `${boot}:${fields[19]}` };
}

function bootId(): string {
  return isLinux ? readBootId() : "";
}

async function readPs(which: string[]): Promise<ProcessRow[]> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=";
  const run = promisify(execFile);
  const result = await run("ps", [...which, "-o", columns], { timeout: 5000 }).catch(() => ({ stdout: "" }));
  return result.stdout.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (match === null || match[4]?.startsWith("Z")) return [];
    return [
      { pid: Number(match[1]), ppid: Number(match[2]), group: Number(match[3]), started: `${match[5]}` },
    ];
  });
}

function toId(row: ProcessRow): ProcessId {
  return { pid: row.pid, started: row.started };
}
