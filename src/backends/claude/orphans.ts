// After a control interrupt claude lives on, but what the interrupted tool had started may too: claude ends
// the tool's shell, not what detached itself from it. A background task that claude still owns is left alone,
// and so is a server that an earlier turn detached on purpose.
import { RUN_MARKER } from "../../base/child.ts";
import {
  findByEnvironment,
  killAll,
  type ProcessId,
  snapshot,
  startedSince,
} from "../../base/descendants.ts";

export interface InterruptedTurn {
  pid: number;
  runId: string;
  /** Below claude before the interrupt. */
  before: readonly ProcessId[];
  /** `os.uptime()` when the turn began and when it was over. */
  sinceS: number;
  untilS: number;
}

const GRACE_MS = 300;

/** The shell of an interrupted tool may take a moment to die, and what it started counts as claude's until then. */
const LATER_MS = [250, 1000];

/** Resolves after the first pass; later ones catch what still had a dying parent. */
export async function killOrphans(turn: InterruptedTurn): Promise<void> {
  await killPass(turn);
  for (const ms of LATER_MS) setTimeout(() => void killPass(turn).catch(() => undefined), ms).unref();
}

async function killPass(turn: InterruptedTurn): Promise<void> {
  const [below, marked] = await Promise.all([
    snapshot(turn.pid),
    findByEnvironment(RUN_MARKER, (value) => value === turn.runId),
  ]);
  const owned = new Set([turn.pid, ...below.map((id) => id.pid)]);
  // Only what the interrupted turn started: a later pass must not touch the next turn's.
  const ofThisTurn = marked.filter((id) => startedSince(id, turn.sinceS) && !startedSince(id, turn.untilS));
  await killAll(
    [...turn.before, ...ofThisTurn].filter((id) => !owned.has(id.pid)),
    GRACE_MS,
  );
}
