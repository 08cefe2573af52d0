// The end of a turn: the response to its `tools/call`, a `turn_aborted`, or our timeout. The first makes the one
// result, with everything that was held.

import type { JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asObjects, asString, defined } from "../../../base/values.ts";
import type { ResultEvent } from "../../../protocol/events.ts";
import { parseRetryAfterMs, toFailureCode } from "../../../protocol/failures.ts";
import { followThread, type McpReport, type McpState } from "./state.ts";

type Failure = NonNullable<ResultEvent["error"]>;

export type TurnEnd =
  /** The JSON-RPC result. */
  | { kind: "result"; result: unknown }
  /** The JSON-RPC error object. */
  | { kind: "error"; error: JsonObject }
  /** Codex stopped it, or did not stop it although we asked. */
  | { kind: "aborted" };

export const LOGIN_ADVICE = "Run `codex login` to re-authenticate.";

/** Of old Codex only; the rest is in the table of failures. */
const AUTH_CODES: ReadonlySet<unknown> = new Set([-32001, -32002]);
const NO_REASON = "codex gave no reason";

export function endTurn(state: McpState, end: TurnEnd): McpReport[] {
  const { isAuth = false, native_turn_id: _native, ...held } = state.held;
  const isInterrupted = end.kind === "aborted" || state.isCancelled;
  const failure = isInterrupted ? undefined : findError(end);
  const error = failure === undefined ? undefined : assignCode(failure, isAuth);
  const reports = end.kind === "result" ? readThread(state, asObject(end.result)) : [];
  state.held = {};
  state.requestId = undefined;
  state.isCancelled = false;
  if (error?.code === "auth_failed") reports.push({ kind: "auth_failed", message: LOGIN_ADVICE });
  const event: ResultEvent = {
    type: "agent.result",
    backend: "codex",
    subtype: isInterrupted ? "interrupted" : error === undefined ? "success" : "error",
    num_turns: 1,
    ...held,
    ...defined({ error }),
  };
  return [...reports, { kind: "event", event }];
}

/** A tool can fail inside a JSON-RPC result: `isError` (MCP), or `{"error": text}` in older versions. */
function findError(end: TurnEnd): JsonObject | undefined {
  if (end.kind !== "result") return end.kind === "error" ? end.error : undefined;
  const { isError, error, content } = asObject(end.result);
  if (isError === true)
    return {
      message: asObjects(content)
        .flatMap(({ text }) => asString(text) ?? [])
        .join(""),
    };
  return typeof error === "string" ? { message: error } : undefined;
}

/** With the code that every backend uses; Codex's own is kept next to it. */
function assignCode({ code: native, message: text, ...rest }: JsonObject, isAuth: boolean): Failure {
  const message = asString(text) || NO_REASON;
  const { type, code: inner } = asObject(rest["data"]);
  const status = asCount(inner) ?? asCount(native);
  const found = toFailureCode({ names: [type, native], status, words: message });
  const code = isAuth || AUTH_CODES.has(native) || AUTH_CODES.has(inner) ? "auth_failed" : found;
  const hasCode = typeof native === "number" || typeof native === "string";
  const wait = defined({ retry_after_ms: parseRetryAfterMs(message) });
  return { code, ...(hasCode ? { native_code: native } : {}), message, ...wait, ...rest };
}

/** Newer versions also name the thread next to the final text. */
function readThread(state: McpState, { structuredContent }: JsonObject): McpReport[] {
  return followThread(state, state.threadId ?? asString(asObject(structuredContent)["threadId"]));
}

const LAST_WORDS = 5;

/** Text counts only where something failed: here, in the last lines of a codex that died. */
export function hasAuthError(tail: readonly string[]): boolean {
  return tail.slice(-LAST_WORDS).some((words) => toFailureCode({ words }) === "auth_failed");
}
