// Every error code that a client can meet, in one table. docs/errors.md is made from it.

export interface ErrorEntry {
  meaning: string;
  /** The connection is closed behind the frame. */
  fatal: boolean;
  /** What the HTTP API answers with. */
  http: number;
  /** The name in the blemees/1 dialect, where it differs. */
  blemees1?: string;
}

export const ERRORS = {
  protocol_mismatch: { meaning: "Incompatible protocol version.", fatal: true, http: 400 },
  invalid_message: { meaning: "Malformed JSON or bad field.", fatal: false, http: 400 },
  unknown_message: { meaning: "Unknown frame type.", fatal: false, http: 404 },
  unknown_backend: {
    meaning: "`blemeesd.open.backend` is not a backend the daemon knows.",
    fatal: false,
    http: 400,
    blemees1: "invalid_message",
  },
  unsafe_flag: { meaning: "The client asked for a refused flag.", fatal: false, http: 403 },
  session_unknown: { meaning: "No such session, or it is not yours.", fatal: false, http: 404 },
  session_exists: {
    meaning: "The session id is taken, or a limit on the number of sessions is reached.",
    fatal: false,
    http: 409,
  },
  session_busy: { meaning: "Another turn is in flight.", fatal: false, http: 409 },
  spawn_failed: { meaning: "The backend's program is missing or did not start.", fatal: false, http: 502 },
  backend_crashed: {
    meaning: "The backend's process ended unexpectedly, or the daemon was restarted during a turn.",
    fatal: false,
    http: 502,
    blemees1: "claude_crashed",
  },
  auth_failed: {
    meaning: "The backend cannot authenticate; log in with its own program. Not retried.",
    fatal: false,
    http: 502,
    blemees1: "oauth_expired",
  },
  pending_structured_request: {
    meaning: "The agent waits for an answer; `data` has the oldest request. Answer it first.",
    fatal: false,
    http: 409,
    blemees1: "session_busy",
  },
  request_unknown: { meaning: "No such request in this session.", fatal: false, http: 404 },
  request_expired: { meaning: "Nobody answered in time.", fatal: false, http: 404 },
  request_orphaned: {
    meaning: "The agent that asked is gone (it, or the daemon, was restarted); no answer can reach it.",
    fatal: false,
    http: 410,
  },
  request_withdrawn: { meaning: "The agent took the request back.", fatal: false, http: 410 },
  request_changed: {
    meaning: "The answer is to something else than what is asked.",
    fatal: false,
    http: 409,
  },
  invalid_answer: { meaning: "The answer does not fit what is asked.", fatal: false, http: 400 },
  answer_not_allowed: {
    meaning: "Only the session's owner may answer, unless it was opened with `answers: any`.",
    fatal: false,
    http: 403,
  },
  queue_full: {
    meaning: "Too much waits in the session's queue; cancel some of it or wait.",
    fatal: false,
    http: 429,
  },
  message_unknown: { meaning: "No such message waits in this session's queue.", fatal: false, http: 404 },
  idempotency_mismatch: {
    meaning: "The idempotency key was used before with another body.",
    fatal: false,
    http: 409,
  },
  family_limit: {
    meaning: "The session has too many children, or is too deep in its family, to spawn another one.",
    fatal: false,
    http: 409,
  },
  notify_not_allowed: {
    meaning: "The URL is not on the allow-list (`notify_allow_urls`).",
    fatal: false,
    http: 403,
  },
  unauthorized: {
    meaning: "HTTP: the bearer token is missing or wrong.",
    fatal: false,
    http: 401,
  },
  forbidden: { meaning: "HTTP: the Host or Origin header is not ours.", fatal: false, http: 403 },
  not_found: { meaning: "HTTP: no such route.", fatal: false, http: 404 },
  method_not_allowed: { meaning: "HTTP: the route has another method.", fatal: false, http: 405 },
  unsupported_media_type: {
    meaning: "HTTP: the body must be `application/json`.",
    fatal: false,
    http: 415,
  },
  too_many_tries: { meaning: "HTTP: too many wrong one-time links were tried.", fatal: false, http: 429 },
  too_many_streams: { meaning: "HTTP: too many event streams are open.", fatal: false, http: 503 },
  store_failed: { meaning: "It could not be stored, so nothing was done.", fatal: false, http: 503 },
  oversize_message: { meaning: "An inbound frame is too large.", fatal: true, http: 413 },
  slow_consumer: { meaning: "The connection did not read for 30 s.", fatal: true, http: 503 },
  daemon_shutdown: { meaning: "The daemon is shutting down.", fatal: true, http: 503 },
  internal: { meaning: "An unexpected daemon error; the log has the details.", fatal: false, http: 500 },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
