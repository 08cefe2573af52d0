// The only place that turns an error into a reply: `{error: {code, message, data?}}` with the status of its code.
import { CodedError } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { ERRORS, isErrorCode } from "../../protocol/errors.ts";
import { toIsoTime } from "../../protocol/wire/http-codex.ts";
import { toCoded } from "../errors.ts";

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export function toErrorReply(error: unknown, log: Log, status?: number): ErrorReply {
  const { code, message, data } = hideOwnership(toCoded(error, log));
  const body = { error: { code, message, ...(data === undefined ? {} : { data: addTime(data) }) } };
  return {
    status: status ?? (isErrorCode(code) ? ERRORS[code].http : 500),
    headers: { "content-type": "application/json; charset=utf-8", ...extraHeaders(code, data) },
    text: `${JSON.stringify(body)}\n`,
  };
}

/** HTTP has no ownership, so a session that is not found does not exist. */
function hideOwnership(error: CodedError): CodedError {
  const [, session_id] = /^no session (\S+), or another client owns it$/.exec(error.message) ?? [];
  if (session_id === undefined) return error;
  return new CodedError(
    error.code,
    `no session ${session_id}; GET /sessions (\`sm all\`) lists all sessions`,
    { cause: error },
  );
}

/** The session-manager format requires `requested_at` in the summary of a pending request. */
function addTime(data: Record<string, unknown>): Record<string, unknown> {
  const atMs = data["requested_at_ms"];
  return typeof atMs === "number" ? { ...data, requested_at: toIsoTime(atMs) } : data;
}

function extraHeaders(code: string, data: Record<string, unknown> | undefined): Record<string, string> {
  if (code === "unauthorized") return { "www-authenticate": "Bearer" };
  const allow = data?.["allow"];
  return code === "method_not_allowed" && Array.isArray(allow) ? { allow: allow.join(", ") } : {};
}
