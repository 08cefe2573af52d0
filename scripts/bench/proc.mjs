// Process figures from Linux's /proc. On other systems the measures that need them are skipped.
import { readdirSync, readFileSync } from "node:fs";

export const IS_LINUX = process.platform === "linux";

/**
 * CPU time of all its threads in seconds, to the nanosecond, as the scheduler counts it; children not included.
 * @param {number} pid
 */
export function cpuSeconds(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const stat = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8");
    return sum + Number(stat.split(" ")[0]) / 1e9;
  }, 0);
}

/**
 * @param {number} pid
 * @param {"VmRSS" | "VmHWM"} key
 */
export function memoryMb(pid, key) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}

/**
 * All descendants of a process.
 * @param {number} pid
 * @returns {number[]}
 */
export function descendantsOf(pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (/** @type {number} */ above) => (children.get(above) ?? []).flatMap(withBelow);
  const withBelow = (/** @type {number} */ each) => [each, ...below(each)];
  return below(pid);
}

/** @param {string} pid */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return -1; // it exited meanwhile
  }
}

/**
 * Call it before a measure, and the returned function after it: the share of all cores used by other work. Correct only if every child of the measure was waited for in between, because only then is their time known.
 * @returns {() => number | undefined}
 */
export function meterOthers() {
  if (!IS_LINUX) return () => undefined;
  const from = { machine: machineTicks(), own: ownTicks() };
  return () => {
    const machine = machineTicks();
    const busy = machine.busy - from.machine.busy - (ownTicks() - from.own);
    return Math.max(0, busy / (machine.total - from.machine.total));
  };
}

function machineTicks() {
  // user nice system idle iowait irq softirq steal; guest time is part of user.
  const fields = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "")
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const total = fields.reduce((sum, ticks) => sum + ticks, 0);
  return { total, busy: total - (fields[3] ?? 0) - (fields[4] ?? 0) };
}

function ownTicks() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
