// The table of error codes matches docs/protocol.md, and each code says whether it closes the connection.
import { expect, test } from "vitest";
import { ERRORS, type ErrorEntry, isErrorCode } from "../../src/protocol/errors.ts";

const SPEC: [code: string, fatal: boolean][] = [
  ["protocol_mismatch", true],
  ["invalid_message", false],
  ["unknown_message", false],
  ["unknown_backend", false],
  ["unsafe_flag", false],
  ["session_unknown", false],
  ["session_exists", false],
  ["session_busy", false],
  ["spawn_failed", false],
  ["backend_crashed", false],
  ["auth_failed", false],
  ["oversize_message", true],
  ["slow_consumer", true],
  ["daemon_shutdown", true],
  ["internal", false],
];

/** The codes of the session-manager format and of the ledger: none of them closes the connection. */
const LEDGER = [
  "pending_structured_request",
  "request_unknown",
  "request_expired",
  "request_orphaned",
  "request_withdrawn",
  "request_changed",
  "invalid_answer",
  "answer_not_allowed",
  "store_failed",
];

/** The codes of the manager and its HTTP API. */
const MANAGER = [
  "not_allowed",
  "escalation",
  "queue_full",
  "git_failed",
  "undo_failed",
  "worktree_refused",
  "worktree_unknown",
  "change_unknown",
  "message_unknown",
  "quota_not_waiting",
  "idempotency_mismatch",
  "budget_exhausted",
  "family_limit",
  "policy_invalid",
  "rule_exists",
  "rule_unknown",
  "notify_not_allowed",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "unsupported_media_type",
  "too_many_streams",
  "too_many_tries",
  "no_log",
  "restart_failed",
  "search_unavailable",
  "setting_refused",
  "supervised",
  "transcript_in_use",
  "transcript_unknown",
];

test("the table has the codes of the protocol, the ledger and the manager, and no others", () => {
  expect(Object.keys(ERRORS).sort()).toEqual([...SPEC.map(([code]) => code), ...LEDGER, ...MANAGER].sort());
  for (const code of [...LEDGER, ...MANAGER]) expect(ERRORS[code as keyof typeof ERRORS].fatal).toBe(false);
});

test.each(SPEC)("%s is a code, fatal to the connection: %s", (code, fatal) => {
  expect(isErrorCode(code)).toBe(true);
  expect(ERRORS[code as keyof typeof ERRORS].fatal).toBe(fatal);
});

test("blemees/1 has every code, some under an older name", () => {
  const older = new Set(["claude_crashed", "oauth_expired", "invalid_message", "session_busy"]);
  for (const entry of Object.values(ERRORS) as ErrorEntry[]) {
    if (entry.blemees1 !== undefined) expect(older.has(entry.blemees1)).toBe(true);
  }
  expect((ERRORS.backend_crashed as ErrorEntry).blemees1).toBe("claude_crashed");
  expect((ERRORS.auth_failed as ErrorEntry).blemees1).toBe("oauth_expired");
});

test("a property of Object.prototype is not a code", () => {
  expect(isErrorCode("toString")).toBe(false);
  expect(isErrorCode("__proto__")).toBe(false);
});
