// Stops all sessions at shutdown, in parallel: idle agents immediately, running turns after a grace period.
import type { Log } from "../base/log.ts";
import type { SessionHub } from "./hub.ts";
import type { Session } from "./session.ts";

const POLL_MS = 20;

/** `hurry` ends the grace period early. */
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

/** A turn with a pending request cannot finish, because no client can answer it. */
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
