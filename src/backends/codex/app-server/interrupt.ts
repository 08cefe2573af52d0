// Interrupts the turns of a session and ends commands they left running: a command survives turn/interrupt as a
// "background terminal" (0.166.0).

import { readMonotonicMs } from "../../../base/monotonic.ts";
import { killLeftovers } from "../../leftovers.ts";
import type { SessionLane } from "../../shared-process.ts";
import type { CodexState } from "./state.ts";

export interface RunningTurn {
  threadId: string;
  turnId: string;
}

const ACK_LIMIT_MS = 500;
/** A turn that has just started cannot be interrupted yet. */
const AGAIN_MS = 25;

/** Of all its threads. */
export function listRunning({ threads }: CodexState): RunningTurn[] {
  return [...threads.values()].flatMap(({ id, turnId }) =>
    turnId === undefined ? [] : [{ threadId: id, turnId }],
  );
}

/** With the root thread's turn itself, if it still runs, even if its start has not been reported yet. */
export function listTurns(state: CodexState, id: string | undefined, isRunning: boolean): RunningTurn[] {
  const { threadId } = state;
  const known = listRunning(state);
  if (id === undefined && isRunning) return known;
  const others = known.filter((one) => one.threadId !== threadId);
  return id === undefined || !isRunning ? others : [{ threadId, turnId: id }, ...others];
}

/**
 * Asks Codex to stop the turns in `running`, now or shortly after. Resolves with the turns it agreed to stop, when it
 * has agreed to all, the time is over, or `isOver` returns true; their end arrives as turn/completed.
 */
export async function askToStop(
  lane: SessionLane,
  running: () => RunningTurn[],
  isOver: () => boolean,
): Promise<Set<string>> {
  const agreed = new Set<string>();
  const deadline = readMonotonicMs() + ACK_LIMIT_MS;
  for (;;) {
    const left = running().filter(({ turnId }) => !agreed.has(turnId));
    const restMs = deadline - readMonotonicMs();
    if ((left.length === 0 && agreed.size > 0) || restMs <= 0 || isOver()) return agreed;
    await Promise.all(
      left.map(async ({ threadId, turnId }) => {
        const asked = lane.request("turn/interrupt", { threadId, turnId }, restMs);
        // It may have just ended, or not quite started: try again.
        if (await isAnswered(asked)) agreed.add(turnId);
      }),
    );
    if (left.some(({ turnId }) => !agreed.has(turnId)) || left.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** `leftovers`: also ends processes with this marker, only those started since that time, in seconds since boot, if it is given. */
export async function tidyUp(
  lane: SessionLane,
  threadIds: readonly string[],
  leftovers?: { marker: string; sinceS?: number },
): Promise<void> {
  const clean = (threadId: string) =>
    isAnswered(lane.request("thread/backgroundTerminals/clean", { threadId }, ACK_LIMIT_MS));
  await Promise.all(threadIds.map(clean));
  if (leftovers !== undefined) await killLeftovers(leftovers.marker, leftovers.sinceS);
}

/** Other clients may open them afterwards. */
export async function leaveThreads(
  lane: SessionLane,
  threadIds: readonly string[],
  marker: string,
): Promise<void> {
  await tidyUp(lane, threadIds, { marker });
  const leave = (threadId: string) =>
    isAnswered(lane.request("thread/unsubscribe", { threadId }, ACK_LIMIT_MS));
  await Promise.all(threadIds.map(leave));
}

export function isAnswered(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    () => true,
    () => false,
  );
}
