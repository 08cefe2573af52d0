// Which of the two ways to look names up from a directory works on this system.
import { statfsSync } from "node:fs";
import type { At } from "./at.ts";
import { koffiAt } from "./at-koffi.ts";
import { procAt } from "./at-proc.ts";

const PROC_SUPER_MAGIC = 0x9fa0;

export function systemAt(): At {
  return process.platform === "linux" && isRealProc() ? procAt : koffiAt();
}

/** Something else could be mounted there, or nothing: a container without /proc, a chroot. */
function isRealProc(): boolean {
  try {
    return statfsSync("/proc/self/fd").type === PROC_SUPER_MAGIC;
  } catch {
    return false;
  }
}
