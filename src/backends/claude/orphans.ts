// Ends what an interrupted tool left running: claude ends the tool's shell, but not processes that detached from it.
// Background tasks that claude still owns are left alone, and so are servers that an earlier turn detached on purpose.
import { RUN_MARKER } from "../../base/child.ts";
import {
  findByEnvironment,
  findStartedSince,
  killAll,
  type ProcessId,
  takeSnapshot,
} from "../../base/descendants.ts";

export interface InterruptedTurn {
  pid: number;
  runId: string;
  /** Descendants of claude before the interrupt. */
  before: readonly ProcessId[];
  /** Seconds since boot when the turn started and when it ended. */
  sinceS: number;
  untilS: number;
}

const GRACE_MS = 300;

/** The shell of an interrupted tool may take a moment to die, and its children count as claude's until then. */
const LATER_MS = [250, 1000];

/** Resolves after the first pass; later passes catch processes whose parent was still dying. */
export async function killOrphans(turn: InterruptedTurn): Promise<void> {
  await killPass(turn);
  for (const ms of LATER_MS) setTimeout(() => void killPass(turn).catch(() => undefined), ms).unref();
}

async function killPass(turn: InterruptedTurn): Promise<void> {
  const [below, marked] = await Promise.all([
    takeSnapshot(turn.pid),
    findByEnvironment(RUN_MARKER, (value) => value === turn.runId),
  ]);
  const owned = new Set([turn.pid, ...below.map((id) => id.pid)]);
  // Only processes of the interrupted turn: a later pass must not touch those of the next.
  const ofThisTurn = marked.filter(
    (id) => findStartedSince(id, turn.sinceS) && !findStartedSince(id, turn.untilS),
  );
  await killAll(
    [...turn.before, ...ofThisTurn].filter((id) => !owned.has(id.pid)),
    GRACE_MS,
  );
}
