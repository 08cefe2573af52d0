// Ending all sessions when the daemon stops (spec §9.5): idle agents at once, running turns may finish within
// the grace time, then everything that is left is ended, all in parallel.
import type { Log } from "../base/log.ts";
import type { SessionHub } from "./hub.ts";
import type { Session } from "./session.ts";

const POLL_MS = 20;

/** `hurry` ends the grace time early. */
export async function drain(hub: SessionHub, graceMs: number, hurry: AbortSignal, log: Log): Promise<void> {
  const sessions = hub.sessions;
  const untilMs = Date.now() + graceMs;
  for (const session of sessions) session.leave();
  const finishing = sessions.filter(isFinishing);
  if (finishing.length > 0 && graceMs > 0) {
    log.info("daemon.shutdown_waiting_for_turns", { count: finishing.length, grace_s: graceMs / 1000 });
    if (!(await turnsEnd(finishing, untilMs, hurry))) log.warn("daemon.shutdown_grace_expired");
  }
  await Promise.all(sessions.map((session) => session.close("shutdown")));
}

/** A turn that waits for a person would wait in vain: nobody can reach it any more. */
function isFinishing({ isTurnActive, pending }: Session): boolean {
  return isTurnActive && pending.length === 0;
}

async function turnsEnd(sessions: readonly Session[], untilMs: number, hurry: AbortSignal): Promise<boolean> {
  while (sessions.some(isFinishing)) {
    if (hurry.aborted || Date.now() >= untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
