// Every error code that a client can receive, in one table. Source of docs/errors.md.

export interface ErrorEntry {
  meaning: string;
  /** The connection is closed after the frame. */
  fatal: boolean;
  /** HTTP status. */
  http: number;
  /** The name in the blemees/1 dialect, if different. */
  blemees1?: string;
}

export const ERRORS = {
  protocol_mismatch: { meaning: "Incompatible protocol version.", fatal: true, http: 400 },
  invalid_message: { meaning: "Malformed JSON, or a missing or invalid field.", fatal: false, http: 400 },
  unknown_message: { meaning: "Unknown frame type.", fatal: false, http: 404 },
  unknown_backend: {
    meaning: "`blemeesd.open.backend` is not a known backend.",
    fatal: false,
    http: 400,
    blemees1: "invalid_message",
  },
  unsafe_flag: { meaning: "The options contain a flag that is not allowed.", fatal: false, http: 403 },
  session_unknown: { meaning: "No such session, or another client owns it.", fatal: false, http: 404 },
  session_exists: {
    meaning: "The session id is in use, or the session limit is reached.",
    fatal: false,
    http: 409,
  },
  git_failed: {
    meaning: "git failed, took too long or is missing; the message says which.",
    fatal: false,
    http: 502,
  },
  undo_failed: {
    meaning:
      "A file could not be restored; those before it were. The checkpoint taken before has all of them.",
    fatal: false,
    http: 500,
  },
  change_unknown: {
    meaning: "The session has no such turn or file in its changes, or no checkpoints at all.",
    fatal: false,
    http: 404,
  },
  worktree_refused: {
    meaning: "The worktree cannot be added, or removing it would lose something; the message says why.",
    fatal: false,
    http: 409,
  },
  worktree_unknown: { meaning: "No worktree has this name.", fatal: false, http: 404 },
  transcript_unknown: { meaning: "No agent has a transcript of this id.", fatal: false, http: 404 },
  transcript_in_use: {
    meaning: "Another process has the conversation open. Close it there, then continue it here.",
    fatal: false,
    http: 409,
  },
  no_log: {
    meaning: "The daemon's log is not a file that can be read; the message says where it is.",
    fatal: false,
    http: 404,
  },
  supervised: {
    meaning: "A service manager runs the daemon; the message has the command that restarts it.",
    fatal: false,
    http: 409,
  },
  restart_failed: {
    meaning: "The next daemon could not be started; this one keeps running.",
    fatal: false,
    http: 502,
  },
  setting_refused: {
    meaning:
      "The agent cannot change this setting, or not now, or not to this value; the message says which.",
    fatal: false,
    http: 409,
  },
  session_busy: { meaning: "A turn is already running.", fatal: false, http: 409 },
  spawn_failed: {
    meaning: "The backend's program was not found or failed to start.",
    fatal: false,
    http: 502,
  },
  backend_crashed: {
    meaning: "The backend's process exited unexpectedly, or the daemon restarted during a turn.",
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
    meaning: "The agent is waiting for an answer. Answer the request in `data` first.",
    fatal: false,
    http: 409,
    blemees1: "session_busy",
  },
  request_unknown: { meaning: "No such request in this session.", fatal: false, http: 404 },
  request_expired: { meaning: "The request was not answered in time.", fatal: false, http: 404 },
  request_orphaned: {
    meaning: "The agent that asked is gone (it or the daemon restarted), so no answer can reach it.",
    fatal: false,
    http: 410,
  },
  request_withdrawn: { meaning: "The agent withdrew the request.", fatal: false, http: 410 },
  request_changed: {
    meaning: "The request changed since it was shown. Read it again.",
    fatal: false,
    http: 409,
  },
  invalid_answer: { meaning: "The answer does not match the request.", fatal: false, http: 400 },
  answer_not_allowed: {
    meaning: "Only the session's owner may answer, unless it was opened with `answers: any`.",
    fatal: false,
    http: 403,
  },
  not_allowed: {
    meaning:
      "An agent may not do this to that session, or at all. `data` has `actor`, `action` and `target`.",
    fatal: false,
    http: 403,
  },
  escalation: {
    meaning: "The session would have more rights than the agent that starts it. `data` has the option.",
    fatal: false,
    http: 403,
  },
  queue_full: {
    meaning: "The session's queue is full. Cancel messages or wait.",
    fatal: false,
    http: 429,
  },
  quota_not_waiting: { meaning: "The session does not wait for a limit.", fatal: false, http: 409 },
  message_unknown: { meaning: "No such message in this session's queue.", fatal: false, http: 404 },
  idempotency_mismatch: {
    meaning: "The idempotency key was used with a different body.",
    fatal: false,
    http: 409,
  },
  family_limit: {
    meaning: "The session has too many children or is nested too deeply to spawn another one.",
    fatal: false,
    http: 409,
  },
  budget_exhausted: {
    meaning:
      "A budget has too little left; a person can raise it (`sm budget`). Also the error of turns that were interrupted for this.",
    fatal: false,
    http: 409,
  },
  policy_invalid: {
    meaning: "A policy rule or the rules file is invalid. Nothing was changed.",
    fatal: false,
    http: 400,
  },
  rule_exists: { meaning: "A policy rule has this id already.", fatal: false, http: 409 },
  rule_unknown: { meaning: "No policy rule has this id.", fatal: false, http: 404 },
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
  forbidden: { meaning: "HTTP: the Host or Origin header is not allowed.", fatal: false, http: 403 },
  not_found: { meaning: "HTTP: no such route.", fatal: false, http: 404 },
  method_not_allowed: { meaning: "HTTP: the route does not support this method.", fatal: false, http: 405 },
  unsupported_media_type: {
    meaning: "HTTP: the body must be `application/json`.",
    fatal: false,
    http: 415,
  },
  too_many_tries: { meaning: "HTTP: too many attempts with invalid links.", fatal: false, http: 429 },
  too_many_streams: { meaning: "HTTP: too many event streams are open.", fatal: false, http: 503 },
  search_unavailable: {
    meaning: 'The daemon keeps no history (`store = "memory"`), so nothing can be searched.',
    fatal: false,
    http: 501,
  },
  store_failed: { meaning: "The change could not be stored, so nothing was done.", fatal: false, http: 503 },
  oversize_message: { meaning: "The frame or body is too large.", fatal: true, http: 413 },
  slow_consumer: {
    meaning: "The client did not read for `slow_consumer_s` (30 s by default).",
    fatal: true,
    http: 503,
  },
  daemon_shutdown: { meaning: "The daemon is shutting down.", fatal: true, http: 503 },
  internal: { meaning: "Unexpected error in the daemon; see its log.", fatal: false, http: 500 },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
