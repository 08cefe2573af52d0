// Chooses the way to look up names from a directory that works on this system.
import { statfsSync } from "node:fs";
import type { At } from "./at.ts";
import { createKoffiAt } from "./at-koffi.ts";
import { procAt } from "./at-proc.ts";

const PROC_SUPER_MAGIC = 0x9fa0;

export function selectAt(): At {
  return process.platform === "linux" && isRealProc() ? procAt : createKoffiAt();
}

/** /proc may be missing or something else: a container, a chroot. */
function isRealProc(): boolean {
  try {
    return statfsSync("/proc/self/fd").type === PROC_SUPER_MAGIC;
  } catch {
    return false;
  }
}
