// The end of a turn: the response to its `tools/call`, a `turn_aborted`, or our timeout. The first makes the one
// result, with everything that was held.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asString, defined } from "../../../base/values.ts";
import type { ResultEvent } from "../../../protocol/events.ts";
import { parseRetryAfterMs, toFailureCode } from "../../../protocol/failures.ts";
import { isAuthError, LOGIN_ADVICE } from "./auth.ts";
import type { McpReport, McpState } from "./state.ts";

type Failure = NonNullable<ResultEvent["error"]>;

export type TurnEnd =
  /** The JSON-RPC result. */
  | { kind: "result"; result: unknown }
  /** The JSON-RPC error object. */
  | { kind: "error"; error: JsonObject }
  /** Codex stopped it, or did not stop it although we asked. */
  | { kind: "aborted" };

export function endTurn(state: McpState, end: TurnEnd): McpReport[] {
  const { isAuth, native_turn_id: _native, ...held } = state.held;
  const isInterrupted = end.kind === "aborted" || state.isCancelled;
  const failure = isInterrupted ? undefined : findError(end);
  const error =
    failure === undefined ? undefined : assignCode(failure, isAuth === true || isAuthError(failure));
  const reports = end.kind === "result" ? threadIn(state, end.result) : [];
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

/** With the code that every backend uses; Codex's own is kept next to it. */
function assignCode(failure: Failure, isAuth: boolean): Failure {
  const { code: native, message, ...rest } = failure;
  const names = [asObject(failure["data"])["type"], native];
  const code = isAuth ? "auth_failed" : toFailureCode({ names, words: message });
  const wait = defined({ retry_after_ms: parseRetryAfterMs(message) });
  return { code, ...defined({ native_code: native }), message, ...wait, ...rest };
}

/** A tool can fail inside a JSON-RPC result: `isError` (MCP), or `{"error": text}` in older versions. */
function findError(end: TurnEnd): Failure | undefined {
  if (end.kind === "error") {
    const message = asString(end.error["message"]) ?? "codex gave no reason";
    const { code, ...rest } = end.error;
    const hasCode = typeof code === "number" || typeof code === "string";
    return { ...rest, ...(hasCode ? { code } : {}), message };
  }
  if (end.kind !== "result") return undefined;
  const result = asObject(end.result);
  if (result["isError"] === true) return { message: textIn(result) };
  if (typeof result["error"] === "string") return { message: result["error"] };
  return undefined;
}

function textIn(result: JsonObject): string {
  const blocks: unknown[] = Array.isArray(result["content"]) ? result["content"] : [];
  const texts = blocks.flatMap((block) => (isObject(block) ? (asString(block["text"]) ?? []) : []));
  return texts.join("") || "codex gave no reason";
}

/** Newer versions also name the thread next to the final text. */
function threadIn(state: McpState, result: unknown): McpReport[] {
  const id = asString(asObject(asObject(result)["structuredContent"])["threadId"]);
  if (id === undefined || state.threadId !== undefined) return [];
  state.threadId = id;
  return [{ kind: "native_id", id }];
}
