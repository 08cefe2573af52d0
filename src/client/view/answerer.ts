// Who answered a request, as the daemon determined it.
import { readAgentSessions } from "../../base/actor.ts";
import type { AnswerWay, RequestRow, ResolutionSource } from "../../protocol/requests.ts";

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

/**
 * After the decision: "by agent 5a01f0d8", "in the dashboard", "by a person over HTTP", "by a rule". Only what the daemon
 * determined; an answer from before it did so has what the client said.
 */
export function describeAnswerer({
  answered_by,
  resolution_source,
}: Pick<RequestRow, "answered_by" | "resolution_source">): string | undefined {
  if (answered_by === undefined)
    return resolution_source === undefined ? undefined : CLAIMED[resolution_source];
  const { actor, via } = answered_by;
  const sessions = readAgentSessions(actor);
  if (sessions !== undefined) return `by agent ${shorten(sessions, false)}`;
  if (actor === "person" && (via === "tui" || via === "web")) return PLACES[via];
  if (actor === "daemon") return PLACES[via];
  return `by ${actor === "person" ? "a person" : "an unknown program"} ${PLACES[via]}`;
}

const PLACES: Readonly<Record<AnswerWay, string>> = {
  tui: "in the terminal UI",
  web: "in the dashboard",
  socket: "on the socket",
  http: "over HTTP",
  tool: "with a tool",
  policy: "by a rule",
  expiry: "because nobody answered in time",
};

const CLAIMED: Readonly<Record<ResolutionSource, string>> = {
  tui: "in the terminal UI",
  web: "in the dashboard",
  sm: "with sm",
  blemeesctl: "with blemeesctl",
  socket: "by a program on the socket",
  http: "by a program over HTTP",
  api: "by a program",
  policy: "by a rule",
};

function shorten(sessions: readonly string[], isFull: boolean): string {
  return sessions.map((id) => (isFull ? id : id.slice(0, SHORT_ID))).join(", ");
}
