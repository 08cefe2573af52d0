// Finds the agent processes of an earlier daemon that are still running, and takes them over. A run that does not
// match in every respect is refused, with the reason.
import { setTimeout as delay } from "node:timers/promises";
import { Child, type ChildExit, type ChildHandlers, type ProcessHandle, RUN_MARKER } from "../child.ts";
import { toMessage } from "../coded-error.ts";
import {
  findByEnvironment,
  isAlive,
  isOfThisBoot,
  killAll,
  type ProcessId,
  takeSnapshot,
} from "../descendants.ts";
import { type RunDescription, readDescription, readProcessId } from "./description.ts";
import {
  checkRunDirectory,
  listRunDirectories,
  type RunDirectory,
  removeRunDirectory,
  unusableError,
} from "./directory.ts";
import type { RunMark } from "./mark.ts";
import { type RunHistory, readRecord } from "./record.ts";
import { RunFiles } from "./run-files.ts";
import { readSnapshots, type Snapshot } from "./snapshots.ts";

/** A process that can be adopted, or one that has ended since, whose output can be read to its end. */
export interface FoundRun {
  directory: RunDirectory;
  description: RunDescription;
  hasEnded: boolean;
  snapshots: Snapshot[];
  /** Entries that no snapshot includes. */
  history: RunHistory;
}

export interface LeftRun {
  directory: RunDirectory;
  /** Why it cannot be adopted. */
  reason: string;
}

export const HAS_ENDED = "its process has ended";
const KILL_GRACE_MS = 500;
/** A longer line may have been written in part. */
const ATOMIC_BYTES = 4096;
/** The exit of a process that is not our child must be polled. Without /proc, each poll runs a program. */
const POLL_MS = process.platform === "linux" ? 100 : 1000;

/** `unreadable`: which runs there are cannot be seen. */
export async function findRuns(
  root: string,
  unreadable?: (error: unknown) => void,
): Promise<{ found: FoundRun[]; left: LeftRun[] }> {
  const found: FoundRun[] = [];
  const left: LeftRun[] = [];
  for (const directory of listRunDirectories(root, unreadable)) {
    try {
      found.push(await inspect(directory));
    } catch (error) {
      left.push({ directory, reason: toMessage(error) });
    }
  }
  return { found, left };
}

async function inspect(directory: RunDirectory): Promise<FoundRun> {
  checkRunDirectory(directory);
  const description = readDescription(directory);
  const id = toProcessId(description);
  const hasEnded = !(await isAlive(id));
  if (hasEnded && !(await isOfThisBoot(id))) throw unusableError(HAS_ENDED);
  const snapshots = explain("its snapshots", () => readSnapshots(directory.sessions));
  if (snapshots.length === 0) throw unusableError("it serves no session");
  const included = Math.min(...snapshots.map(({ n }) => n));
  const history = explain("its record", () => readRecord(directory.record, included));
  if (hasEnded) return { directory, description, hasEnded, snapshots, history };
  const torn = history.writes.find(({ isDone, line }) => !isDone && Buffer.byteLength(line) >= ATOMIC_BYTES);
  if (torn !== undefined) throw unusableError("the daemon was killed while writing a long line to its stdin");
  return { directory, description, hasEnded, snapshots, history };
}

function explain<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unusableError(`${what} cannot be read: ${toMessage(error)}`);
  }
}

/** Ends the processes of a run that is not adopted, and removes its directory. */
export async function endRun(directory: RunDirectory): Promise<void> {
  const left = await findProcesses(directory);
  if (left.length > 0) await killAll(left, KILL_GRACE_MS);
  removeRunDirectory(directory);
}

/** Also by its pid: it may have cleared its environment, and macOS shows none. */
async function findProcesses(directory: RunDirectory): Promise<ProcessId[]> {
  const marked = await findByEnvironment(RUN_MARKER, (value) => value === directory.id).catch(() => []);
  const described = readProcessId(directory);
  if (described === undefined || !(await isAlive(described))) return marked;
  return [...marked, described, ...(await takeSnapshot(described.pid).catch(() => []))];
}

export interface AdoptParts {
  handlers: ChildHandlers;
  /** Where reading continues. */
  from: RunMark;
  unrecorded(error: unknown): void;
}

/** Until `files.start`, nothing is read and its exit goes unnoticed. One that has ended exits when all of it was read. */
export function adoptChild(run: FoundRun, { handlers, from, unrecorded }: AdoptParts): Child {
  const { directory, description, history, hasEnded } = run;
  const files = new RunFiles({ directory, handlers, from, lastEntry: history.last, hasEnded, unrecorded });
  const id = toProcessId(description);
  return new Child(hasEnded ? toEndedHandle(id, files) : toHandle(id, files.started), files, {
    runId: directory.id,
    marker: RUN_MARKER,
  });
}

function toProcessId({ pid, started }: RunDescription): ProcessId {
  return { pid, started };
}

function toHandle(id: ProcessId, started: Promise<void>): ProcessHandle {
  return {
    pid: id.pid,
    exit: started.then(() => untilGone(id)),
    kill(signal) {
      void isAlive(id).then((alive) => {
        if (alive) signalQuietly(id.pid, signal);
      });
    },
  };
}

function toEndedHandle({ pid }: ProcessId, files: RunFiles): ProcessHandle {
  return { pid, exit: files.allRead.then(() => ({})), kill: () => undefined };
}

async function untilGone(id: ProcessId): Promise<ChildExit> {
  while (await isAlive(id)) await delay(POLL_MS, undefined, { ref: false });
  // Only its parent learns how it ended.
  return {};
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just exited.
  }
}
