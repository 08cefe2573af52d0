// Frames and replies about requests.
import { CodedError } from "../../base/coded-error.ts";
import { toDeliverable } from "../../protocol/deliverable.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import { orphan, withoutMark, withoutSecrets } from "./states.ts";

/** A request of an earlier run, no longer pending. */
export function toLost(row: RequestRow): RequestRow {
  return orphan(row, "server_restarted", "the agent that asked is gone");
}

/** The daemon that would have started the session is gone; its agent is not. */
export function toLostSpawn(row: RequestRow): RequestRow {
  return orphan(row, "server_restarted", "the daemon restarted; the agent has to ask again");
}

/** Ids of requests that the daemon makes in an agent's name: to start a session with more rights than the agent's. */
export const SPAWN_ID = "spawn";

/** Its answer gives rights that no agent has: only people give it. */
export function isSpawnRequest({ native_request_id }: Pick<RequestRow, "native_request_id">): boolean {
  return native_request_id?.startsWith(`${SPAWN_ID}_`) === true;
}

/** No agent answers it, whatever rights it was given, and no rule. */
export function isForPeople(row: Pick<RequestRow, "native_request_id" | "request_type">): boolean {
  return row.request_type === "budget" || isSpawnRequest(row);
}

/** The frame that announces a request's new state. Only the first one contains the request itself. */
export function toRequestNotice(row: RequestRow): NoticeEvent {
  const { payload: _shown, ...rest } = withoutSecrets(row);
  const isGood = row.status === "pending" || (row.status === "resolved" && row.error_code === undefined);
  return {
    type: "agent.notice",
    backend: row.backend,
    level: isGood ? "info" : "warn",
    category: `request_${row.status}`,
    text: isGood ? row.payload.title : `${row.payload.title}: ${row.error_message ?? row.status}`,
    data: { request: row.status === "pending" ? row : rest },
  };
}

/** The notice that an undecided row still owes: it comes first in the same append as its next state. */
export function toOwedNotice(row: RequestRow): NoticeEvent | undefined {
  return row.undecided === true ? toRequestNotice(withoutMark(row)) : undefined;
}

/** A request that was declined without asking anyone. */
export function toRefusedNotice(backend: string, title: string, why: string): NoticeEvent {
  return {
    type: "agent.notice",
    backend,
    level: "warn",
    category: "request_refused",
    text: `"${title}" was refused without asking: ${why}`,
  };
}

export function toPolicyNotice(backend: string, fault: string): NoticeEvent {
  const text = `${fault}. The last good rules apply; see \`sm policy list\``;
  return { type: "agent.notice", backend, level: "warn", category: "policy_invalid", text };
}

export interface Responded {
  request: RequestRow;
  /** It was answered before, and that answer counts. */
  repeated: boolean;
  /** Parts of the answer that could not be applied, for the client that answered. */
  notice?: string;
}

export function toResponded(row: RequestRow, given: Answer, repeated: boolean): Responded {
  const isCut = toDeliverable(row.payload, given) !== given;
  const notice = `${row.backend} accepts no reason with this answer, so the reason was not passed on`;
  return { request: withoutSecrets(row), repeated, ...(isCut ? { notice } : {}) };
}

/** The reply to a second answer. */
export function toRepeatedResponse(row: RequestRow, given: Answer): Responded {
  if (row.status === "resolved") return toResponded(row, given, true); // mutation: repeated-answer-is-known
  const why = row.error_message === undefined ? "" : `: ${row.error_message}`;
  throw new CodedError(`request_${row.status}`, `request ${row.request_id} is ${row.status}${why}`, {
    data: { request: withoutSecrets(row) },
  });
}

export function changedError(row: RequestRow): CodedError {
  const message = `the answer is for another version of request ${row.request_id}; read it again (shown_hash)`;
  return new CodedError("request_changed", message, { data: { request: row } });
}

export function pickIds(row: RequestRow): { session_id: string; request_id: string } {
  return { session_id: row.session_id, request_id: row.request_id };
}
