// A process and its ancestors, as the kernel shows them: who started the process at the other end of a connection.
import { createProcessSource, type ProcessFacts, type ProcessSource } from "./process-source.ts";

export interface LineageProcess {
  readonly pid: number;
  /** Comparable with `readStartTime`. */
  readonly started: number;
  /** A variable of the environment it was started with; undefined if it has none, or it cannot be read. */
  read(name: string): string | undefined;
}

export interface Lineage {
  /**
   * `found`: up to init, or to processes of other users that are not shown. `partial`: it is too long, or changed while it was
   * read. `gone`: the process has exited, or its pid belongs to another one now. `unknown`: the system does not show parents.
   */
  readonly state: "found" | "partial" | "gone" | "unknown";
  /** The process itself first. Neither this process nor init. */
  readonly processes: readonly LineageProcess[];
  /** The process does not let its own user read its environment, and no other user started it. */
  isHidden(): boolean;
}

/** Deeper trees do not occur by themselves. */
const MAX_DEPTH = 256;
/** A parent can exit between two reads; each time, the next one is known. */
const MAX_CHANGES = 16;
const NEVER = -1;

/** `started`: from `readStartTime`, when the pid was learned; pids are reused. */
export function readLineage(
  pid: number | undefined,
  started?: number,
  source: ProcessSource = createProcessSource(),
): Lineage {
  const make = (
    state: Lineage["state"],
    found: readonly ProcessFacts[] = [],
    isBelowOthers = false,
  ): Lineage => ({
    state,
    processes: found.map((facts) => toProcess(facts, source)),
    isHidden: () => pid !== undefined && !isBelowOthers && source.isHidden(pid) && !isOthers(found, source),
  });
  if (pid === undefined) return make("unknown");
  if (pid === process.pid) return make("found");
  const first = source.read(pid);
  // Its own environment may be shown nevertheless.
  if (first === "unavailable") return make("unknown", [{ pid, ppid: 0, started: NEVER }]);
  if (first === "missing" || (started !== undefined && first.started !== started)) return make("gone");
  const found = [first];
  for (let last = first, changes = 0; last.ppid > 1 && last.ppid !== process.pid; ) {
    if (found.length >= MAX_DEPTH || changes > MAX_CHANGES) return make("partial", found);
    const parent = source.read(last.ppid);
    if (parent === "unavailable") return make("unknown", found);
    // A pid that was used again is younger than its child.
    if (parent !== "missing" && parent.started <= last.started) {
      found.push(parent);
      last = parent;
      continue;
    }
    const now = source.read(last.pid);
    if (typeof now === "string" || now.started !== last.started) return make("partial", found);
    // A process always has a parent: this one exists, and is not shown.
    if (now.ppid === last.ppid && parent === "missing") return make("found", found, true);
    changes += 1;
    found[found.length - 1] = now;
    last = now;
  }
  return make("found", found);
}

/** When the process started; a time that no process has if it has exited. */
export function readStartTime(pid: number): number {
  const facts = createProcessSource().read(pid);
  return typeof facts === "string" ? NEVER : facts.started;
}

function isOthers(found: readonly ProcessFacts[], source: ProcessSource): boolean {
  return found.some(({ pid }) => {
    const user = source.readUser(pid);
    return user !== undefined && user !== process.getuid?.();
  });
}

function toProcess({ pid, started }: ProcessFacts, source: ProcessSource): LineageProcess {
  return { pid, started, read: (name) => source.readVariable(pid, name) };
}
