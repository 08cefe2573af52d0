// Errors for clients when a session cannot do what they ask right now.
import { CodedError } from "../../base/coded-error.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { Failure, OpenRequest } from "./state.ts";

type Waiting = Pick<OpenRequest, "request_id" | "request_type" | "requested_at_ms" | "title">;

export function unknownSessionError(session_id: string): CodedError {
  return new CodedError("session_unknown", `no session ${session_id}, or another client owns it`);
}

/** `waiting`: the request that blocks the turn. */
export function busyError(waiting?: Waiting): CodedError {
  if (waiting !== undefined) return waitingError(waiting, "session_busy");
  return new CodedError("session_busy", "a turn is in flight; wait for its agent.result or interrupt it");
}

export function waitingError(
  { request_id, request_type, requested_at_ms, title }: Waiting,
  code: "session_busy" | "pending_structured_request" = "pending_structured_request",
): CodedError {
  const message = `the agent is waiting for an answer to "${title}"; answer request ${request_id} first`;
  return new CodedError(code, message, { data: { request_id, request_type, requested_at_ms } });
}

export function notAllowedError(session_id: string): CodedError {
  const message = `only the owner of session ${session_id} may answer; open it with resume, or let its owner open it with answers: "any"`;
  return new CodedError("answer_not_allowed", message);
}

/** The fields of a ledger row that an error names. */
export function toWaiting({ request_id, request_type, requested_at_ms, payload }: RequestRow): Waiting {
  return { request_id, request_type, requested_at_ms, title: payload.title };
}

export const NOT_STORED: Failure = {
  code: "store_failed",
  message: "could not be written to disk, so nothing was changed; see the log",
};

export function shutdownError(): CodedError {
  return new CodedError("daemon_shutdown", "the daemon is shutting down");
}

export function clientGoneError(): CodedError {
  return new CodedError("session_unknown", "the client disconnected before it was served");
}
