// The one place where an error becomes a reply: `{error: {code, message, data?}}` with the status of its code.
import { CodedError } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { ERRORS, isErrorCode } from "../../protocol/errors.ts";
import { isoTime } from "../../protocol/wire/http-codex.ts";

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export function errorReply(error: unknown, log: Log, status?: number): ErrorReply {
  const { code, message, data } = inOurWords(asCoded(error, log));
  const body = { error: { code, message, ...(data === undefined ? {} : { data: withTime(data) }) } };
  return {
    status: status ?? (isErrorCode(code) ? ERRORS[code].http : 500),
    headers: { "content-type": "application/json; charset=utf-8", ...extraHeaders(code, data) },
    text: `${JSON.stringify(body)}\n`,
  };
}

function asCoded(error: unknown, log: Log): CodedError {
  if (error instanceof CodedError && isErrorCode(error.code)) return error;
  log.error("internal", { stack: error instanceof Error ? error.stack : String(error) });
  return new CodedError("internal", "unexpected error in the daemon; its log has the details", {
    cause: error,
  });
}

/** Nothing belongs to anybody here, so a session that is not found is not there. */
function inOurWords(error: CodedError): CodedError {
  const [, session_id] = /^no session (\S+) here, or it belongs to another client$/.exec(error.message) ?? [];
  if (session_id === undefined) return error;
  return new CodedError(
    error.code,
    `no session ${session_id}; GET /sessions (\`sm all\`) has those there are`,
    { cause: error },
  );
}

/** sm#288 has `requested_at` in the summary of a request that waits. */
function withTime(data: Record<string, unknown>): Record<string, unknown> {
  const atMs = data["requested_at_ms"];
  return typeof atMs === "number" ? { ...data, requested_at: isoTime(atMs) } : data;
}

function extraHeaders(code: string, data: Record<string, unknown> | undefined): Record<string, string> {
  if (code === "unauthorized") return { "www-authenticate": "Bearer" };
  const allow = data?.["allow"];
  return code === "method_not_allowed" && Array.isArray(allow) ? { allow: allow.join(", ") } : {};
}
