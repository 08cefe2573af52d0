// Seconds since boot, like `os.uptime()`, which reads a file at every call (35 µs). For comparison with the start times of
// processes.
import { uptime } from "node:os";
import { readMonotonicMs } from "./monotonic.ts";

/** `readMonotonicMs` stops while the machine sleeps, and the time since boot does not. */
const MAX_DRIFT_MS = 20;

let known: { offsetMs: number; driftMs: number } | undefined;

export function readBootSeconds(): number {
  const nowMs = readMonotonicMs();
  const driftMs = Date.now() - nowMs;
  if (known === undefined || Math.abs(driftMs - known.driftMs) > MAX_DRIFT_MS) {
    known = { offsetMs: uptime() * 1000 - nowMs, driftMs };
  }
  return (known.offsetMs + nowMs) / 1000;
}
