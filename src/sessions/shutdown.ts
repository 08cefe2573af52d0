// Ending all sessions when the daemon stops (spec §9.5): idle agents at once, running turns may finish within
// the grace time, then everything that is left is ended, all in parallel.
import type { Log } from "../base/log.ts";
import type { SessionHub } from "./hub.ts";
import { wakeAgain } from "./queue.ts";
import type { Session } from "./session.ts";

const POLL_MS = 20;

/** `hurry` ends the grace time early. */
export async function drain(hub: SessionHub, graceMs: number, hurry: AbortSignal, log: Log): Promise<void> {
  const sessions = hub.sessions;
  const nowMs = Date.now();
  for (const session of sessions) session.detach(nowMs);
  // A turn that waits for a person would wait in vain: nobody can reach it any more.
  const finishing = sessions.filter(
    ({ conversation }) => conversation.isTurnActive && conversation.pending.length === 0,
  );
  if (finishing.length > 0 && graceMs > 0) {
    log.info("daemon.shutdown_waiting_for_turns", { count: finishing.length, grace_s: graceMs / 1000 });
    if (!(await turnsEnd(finishing, nowMs + graceMs, hurry))) log.warn("daemon.shutdown_grace_expired");
  }
  await Promise.all(
    sessions.map(async (session) => {
      const { row } = session;
      // Its turn is cut, and nobody else would wake the session: told once more by the next daemon.
      if (row.turn?.wake !== undefined && row.stopped_at_ms === undefined) {
        wakeAgain(row, row.turn.wake, Date.now());
      }
      if (session.conversation.isTurnActive) await session.conversation.stop("now");
      await session.idle();
      if (session.conversation.isRunning) await session.conversation.stop("now");
      await hub.ledger.idle(session.row.session_id);
      if (session.stream.isOwed) hub.publisher.saveRow(session.stream);
      await session.stream.settled();
      session.stream.close();
    }),
  );
}

async function turnsEnd(sessions: readonly Session[], untilMs: number, hurry: AbortSignal): Promise<boolean> {
  while (
    sessions.some(({ conversation: { isTurnActive, pending } }) => isTurnActive && pending.length === 0)
  ) {
    if (hurry.aborted || Date.now() >= untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
