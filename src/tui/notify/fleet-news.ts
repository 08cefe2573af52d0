// What in a change of the list is worth telling: something begins to wait, a turn ended, a turn failed. Pure.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Fleet } from "../../client/view/fleet.ts";
import type { SessionView } from "../../client/view/types.ts";
import { sessionName } from "../../client/view/words.ts";
import type { News } from "../types.ts";

/** Nothing is new in the first list that is seen, nor in one that is read anew behind a restart of the daemon. */
export function fleetNews(before: Fleet, after: Fleet): News[] {
  if (before.link.state !== "live" || after.link.state !== "live") return [];
  const all: News[] = [];
  for (const [session_id, session] of after.sessions) {
    const was = before.sessions.get(session_id);
    if (was === session) continue;
    const kind = newsOf(was, session);
    if (kind !== undefined) all.push({ kind, session_id, text: `${nameOf(session)} ${WORDS[kind]}` });
  }
  return all;
}

const WORDS: Record<News["kind"], string> = {
  waits: "waits for you",
  done: "is done",
  failed: "failed",
};

function newsOf(was: SessionView | undefined, is: SessionView): News["kind"] | undefined {
  if (is.pending_requests > (was?.pending_requests ?? 0)) return "waits";
  const result = is.last_result;
  if (result === undefined || result.turn_id === was?.last_result?.turn_id) return undefined;
  // What a person stopped is no news, and what goes on with the next message is not done.
  if (result.subtype === "interrupted" || is.queued > 0) return undefined;
  return result.subtype === "success" ? "done" : "failed";
}

/** How a person calls it, in one line. */
export function nameOf(session: SessionView): string {
  return sanitizeLine(sessionName(session)).trim() || session.session_id.slice(0, 8);
}
