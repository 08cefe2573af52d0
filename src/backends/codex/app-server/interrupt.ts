// Interrupts the turns of a session and ends commands they left running: a command survives turn/interrupt as a
// "background terminal" (0.166.0).
import { killLeftovers } from "../../leftovers.ts";
import type { AppServer } from "./process.ts";

export interface RunningTurn {
  threadId: string;
  turnId: string;
}

export const ACK_LIMIT_MS = 500;
/** A turn that has just started cannot be interrupted yet. */
const AGAIN_MS = 25;

/**
 * Asks Codex to stop the turns in `running`, now or shortly after. Resolves with the turns it agreed to stop, when it
 * has agreed to all, the time is over, or `isOver` returns true; their end arrives as turn/completed.
 */
export async function askToStop(
  server: AppServer,
  running: () => RunningTurn[],
  isOver: () => boolean = () => false,
): Promise<Set<string>> {
  const agreed = new Set<string>();
  const deadline = performance.now() + ACK_LIMIT_MS;
  for (;;) {
    const left = running().filter(({ turnId }) => !agreed.has(turnId));
    const restMs = deadline - performance.now();
    if ((left.length === 0 && agreed.size > 0) || restMs <= 0 || !server.isAlive || isOver()) return agreed;
    await Promise.all(
      left.map(async ({ threadId, turnId }) => {
        const asked = server.request("turn/interrupt", { threadId, turnId }, restMs);
        // It may have just ended, or not quite started: try again.
        if (await isAnswered(asked)) agreed.add(turnId);
      }),
    );
    if (left.some(({ turnId }) => !agreed.has(turnId)) || left.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** `sinceS`: only processes started since that time of `os.uptime()`. */
export async function tidyUp(
  server: AppServer,
  threadIds: readonly string[],
  marker: string,
  sinceS?: number,
): Promise<void> {
  const clean = (threadId: string) =>
    isAnswered(server.request("thread/backgroundTerminals/clean", { threadId }, ACK_LIMIT_MS));
  await Promise.all(threadIds.map(clean));
  await killLeftovers(marker, sinceS);
}

export function isAnswered(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    () => true,
    () => false,
  );
}
