// Detects changes of the list worth a notification: a pending request, a finished or a failed turn. Pure.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Fleet } from "../../client/view/fleet.ts";
import { getSessionName } from "../../client/view/format.ts";
import type { SessionView } from "../../client/view/types.ts";
import type { Notification } from "../types.ts";

/** None for the first list, or for the list read after a reconnect. */
export function detectFleetNotifications(before: Fleet, after: Fleet): Notification[] {
  if (before.link.state !== "live" || after.link.state !== "live") return [];
  const all: Notification[] = [];
  for (const [session_id, session] of after.sessions) {
    const was = before.sessions.get(session_id);
    if (was === session) continue;
    const kind = detectKind(was, session);
    if (kind !== undefined) all.push({ kind, session_id, text: `${formatName(session)} ${WORDS[kind]}` });
  }
  return all;
}

const WORDS: Record<Notification["kind"], string> = {
  waits: "is waiting for you",
  done: "is done",
  failed: "failed",
};

function detectKind(was: SessionView | undefined, is: SessionView): Notification["kind"] | undefined {
  if (is.pending_requests > (was?.pending_requests ?? 0)) return "waits";
  const result = is.last_result;
  if (result === undefined || result.turn_id === was?.last_result?.turn_id) return undefined;
  // An interrupted turn needs no notification, and a session with queued messages is not done.
  if (result.subtype === "interrupted" || is.queued > 0) return undefined;
  return result.subtype === "success" ? "done" : "failed";
}

/** The session's name, on one line. */
export function formatName(session: SessionView): string {
  return sanitizeLine(getSessionName(session)).trim() || session.session_id.slice(0, 8);
}
