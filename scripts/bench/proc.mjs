// What Linux says about a process. Elsewhere the measures that need it are left out.
import { readFileSync } from "node:fs";

export const IS_LINUX = process.platform === "linux";
/** USER_HZ: the kernel shows 100 to user space on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * User and system time of all its threads, in seconds; children not included.
 * @param {number} pid
 */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the command in brackets and may hold blanks; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/**
 * @param {number} pid
 * @param {"VmRSS" | "VmHWM"} key
 */
export function memoryMb(pid, key) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}
