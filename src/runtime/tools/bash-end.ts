// How a command ended, in words.
import { constants } from "node:os";
import type { CommandResult } from "../sandbox/types.ts";

const EXCEEDED = {
  processes: "ended: it started too many processes; the user's limit is sandbox.maxProcesses",
  memory: "ended: it used too much memory; the user's limit is sandbox.maxMemoryMb",
};

export function describeEnd(result: CommandResult, timeoutMs: number): string {
  const { code, signal, timedOut, aborted, exceeded } = result;
  if (exceeded !== undefined) return EXCEEDED[exceeded];
  if (timedOut)
    return `timed out after ${timeoutMs} ms and was killed; set a larger timeoutMs if it needs longer`;
  if (aborted) return "aborted";
  if (code === undefined) return `killed by ${signal ?? "an unknown signal"}`;
  // A shell reports 128 + n for a command killed by signal n.
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? `exit code ${code}` : `exit code ${code}: ${name}`;
}
