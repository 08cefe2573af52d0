// Who answered a request, as the daemon determined it.
import { readAgentSessions } from "../../base/actor.ts";
import type { RequestRow } from "../../protocol/requests.ts";

const SHORT_ID = 8;

/** In a table or as a detail: `person, tui`, `agent 5a01f0d8, http, pid 4711`, `policy`. Undefined if it is not known. */
export function formatAnswerer(
  { answered_by }: Pick<RequestRow, "answered_by">,
  { isFull = false }: { isFull?: boolean } = {},
): string | undefined {
  if (answered_by === undefined) return undefined;
  const { actor, via, peer_pid } = answered_by;
  if (actor === "daemon") return via;
  const sessions = readAgentSessions(actor);
  const who = sessions === undefined ? actor : `agent ${shorten(sessions, isFull)}`;
  return [who, via, ...(isFull && peer_pid !== undefined ? [`pid ${peer_pid}`] : [])].join(", ");
}

/** "by agent 5a01f0d8" if an agent answered, "by expiry" if nobody did; otherwise the place of the answer says more. */
export function describeAnswerer({ answered_by }: Pick<RequestRow, "answered_by">): string | undefined {
  if (answered_by === undefined) return undefined;
  const sessions = readAgentSessions(answered_by.actor);
  if (sessions !== undefined) return `by agent ${shorten(sessions, false)}`;
  return answered_by.via === "expiry" ? "because nobody answered in time" : undefined;
}

function shorten(sessions: readonly string[], isFull: boolean): string {
  return sessions.map((id) => (isFull ? id : id.slice(0, SHORT_ID))).join(", ");
}
