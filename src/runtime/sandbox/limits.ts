// How much a command may use: processes, memory, and space in temporary directories. Without limits a command could bring
// down the machine, and with it all other sessions.
import { release, totalmem } from "node:os";
import { findProcessGroups } from "./process-group.ts";
import { DEFAULT_PROCESSES, DEFAULT_TEMPORARY_MB, type SandboxConfig } from "./types.ts";

export interface Limits {
  /** Processes and threads. */
  processes: number;
  memoryBytes: number;
  /** Of /tmp, and again of /dev/shm. */
  temporaryBytes: number;
}

export type ConfiguredLimits = Pick<SandboxConfig, "maxProcesses" | "maxMemoryMb" | "maxTemporaryMb">;

/** How the kernel enforces the number of processes. Without either, they are counted a few times a second (watch.ts). */
export type ProcessLimit =
  | { kind: "rlimit" }
  | { kind: "group"; parent: string }
  | { kind: "none"; why: string };

const MEMORY_SHARE = 0.75;
const MEGABYTE = 1024 * 1024;
/** From this version on RLIMIT_NPROC counts the processes of a user namespace, not all of the user's. */
const COUNTS_IN_NAMESPACE = [5, 14] as const;

export function resolveLimits({ maxProcesses, maxMemoryMb, maxTemporaryMb }: ConfiguredLimits): Limits {
  // Undefined or enormous outside a container.
  const allowed = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memoryBytes = Math.floor(Math.min(totalmem(), allowed) * MEMORY_SHARE);
  return {
    processes: maxProcesses ?? DEFAULT_PROCESSES,
    memoryBytes: maxMemoryMb === undefined ? memoryBytes : maxMemoryMb * MEGABYTE,
    temporaryBytes: (maxTemporaryMb ?? DEFAULT_TEMPORARY_MB) * MEGABYTE,
  };
}

/** The kernel exempts root from RLIMIT_NPROC, also in a user namespace; root can use control groups instead. */
export async function chooseProcessLimit(
  isRoot: boolean,
  hasUserNamespace: boolean,
  kernel = release(),
): Promise<ProcessLimit> {
  if (!isRoot && hasUserNamespace && isAtLeast(kernel, COUNTS_IN_NAMESPACE)) return { kind: "rlimit" };
  const parent = await findProcessGroups();
  if (parent !== undefined) return { kind: "group", parent };
  const why = isRoot
    ? "root has no process limit, and no control group for processes can be created; run as another user"
    : `Linux ${kernel} counts all processes of a user; 5.14 or newer is needed`;
  return { kind: "none", why };
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [first = 0, second = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/** What cannot be enforced. */
export function describeGaps(limit: ProcessLimit, hasSizes: boolean): string[] {
  const processes = "many processes that start at once cannot be stopped";
  return [
    ...(limit.kind === "none" ? [`${processes}: ${limit.why}`] : []),
    ...(hasSizes ? [] : ["the size of /tmp is not limited: bubblewrap 0.7 or newer is needed"]),
  ];
}

export function describeLimits(
  { processes, memoryBytes, temporaryBytes }: Limits,
  limit: ProcessLimit,
): string {
  const how = { rlimit: "", group: ", by control group", none: ", counted" }[limit.kind];
  const size = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
  return `at most ${processes} processes${how}, ${size(memoryBytes)} of memory, ${size(temporaryBytes)} in /tmp`;
}
