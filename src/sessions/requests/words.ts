// How requests are told: the frame in the stream, and what whoever answers gets back.
import { CodedError } from "../../base/coded-error.ts";
import { deliverable } from "../../protocol/deliverable.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import { orphan, withoutSecrets } from "./states.ts";

/** A request of an earlier life, which nobody waits for any more. */
export function lost(row: RequestRow): RequestRow {
  return orphan(row, "server_restarted", "the agent that asked is gone");
}

/** The frame that tells of a request's new state. What was asked stands in the first one, not in each. */
export function noticeOf(row: RequestRow): NoticeEvent {
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

export interface Responded {
  request: RequestRow;
  /** It was answered before, and that answer counts. */
  repeated: boolean;
  /** What was not done as it was asked, for the person who answered. */
  notice?: string;
}

export function responded(row: RequestRow, given: Answer, repeated: boolean): Responded {
  const isCut = deliverable(row.payload, given) !== given;
  const notice = `${row.backend} accepts no reason with this answer, so the reason was not passed on`;
  return { request: withoutSecrets(row), repeated, ...(isCut ? { notice } : {}) };
}

/** What a second answer gets. */
export function answered(row: RequestRow, given: Answer): Responded {
  if (row.status === "resolved") return responded(row, given, true); // mutation: repeated-answer-is-known
  const why = row.error_message === undefined ? "" : `: ${row.error_message}`;
  throw new CodedError(`request_${row.status}`, `request ${row.request_id} is ${row.status}${why}`, {
    data: { request: withoutSecrets(row) },
  });
}

export function changed(row: RequestRow): CodedError {
  const message = `the answer is to another version of request ${row.request_id}; look at it again (shown_hash)`;
  return new CodedError("request_changed", message, { data: { request: row } });
}

export function idsOf(row: RequestRow): { session_id: string; request_id: string } {
  return { session_id: row.session_id, request_id: row.request_id };
}
