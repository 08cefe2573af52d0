// Turns and their ends. Only turns of the root thread make an `agent.result`; a sub-agent's end is a notice.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asString, asText, defined, omitNulls } from "../../../base/values.ts";
import type { AgentEvent, ResultEvent } from "../../../protocol/events.ts";
import { type FailureCode, parseRetryAfterMs, toFailureCode } from "../../../protocol/failures.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { toSnake } from "../../values.ts";
import { introduce } from "./intro.ts";
import { closeItems } from "./items.ts";
import { type CodexReport, type CodexState, type ThreadState, toReports } from "./state.ts";

const AUTH_ADVICE = "Run `codex login` to re-authenticate.";

type Failure = NonNullable<ResultEvent["error"]> & { code: FailureCode };

export function startTurn(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  const turnId = asString(asObject(params["turn"])["id"]);
  if (turnId === undefined) return [];
  thread.turnId = turnId;
  thread.error = undefined;
  thread.spent = undefined;
  thread.diff = undefined;
  if (thread.id !== state.threadId) return [];
  // The context window is known only after the first model call.
  return [...introduce(state, {}), { kind: "turn_started", turnId }];
}

export function endTurn(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  const turn = asObject(params["turn"]);
  const subtype = findSubtype(turn, thread);
  const isInterrupted = turn["status"] === "interrupted";
  // Codex sends no end for interrupted items. Otherwise a command may continue after the turn.
  const closed = isInterrupted ? closeItems(thread) : [];
  const turnId = asString(turn["id"]) ?? thread.turnId ?? "";
  const failure = subtype === "success" ? undefined : findFailure(turn, thread, isInterrupted);
  const spent = thread.spent;
  thread.turnId = undefined;
  thread.error = undefined;
  thread.spent = undefined;
  if (thread.id !== state.threadId) {
    return toReports([...closed, subAgentNotice(thread, subtype, spent, failure)]);
  }
  state.isRetrying = false;
  const event: AgentEvent = {
    type: "agent.result",
    backend: "codex",
    subtype,
    ...defined({ duration_ms: asCount(turn["durationMs"]) }),
    num_turns: 1,
    ...defined({ usage: spent, error: failure }),
  };
  const isAuth = failure?.code === "auth_failed";
  return [
    ...toReports(closed),
    ...(isAuth ? [{ kind: "auth_failed", message: AUTH_ADVICE } as const] : []),
    { kind: "event", event },
    { kind: "turn_ended", turnId },
  ];
}

/** `error`: a retry becomes a notice; a final error is part of the result. */
export function translateError(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  const error = asObject(params["error"]);
  const text = asText(error["message"]) ?? "Codex failed without naming an error";
  const details = asText(error["additionalDetails"]);
  if (params["willRetry"] === true) {
    state.isRetrying = true;
    const message = details === undefined ? text : `${text}: ${details}`;
    return [...toReports([errorNotice("warn", "model_retry", error)]), { kind: "retrying", message }];
  }
  if (thread.turnId === undefined) return toReports([errorNotice("error", "error_reported", error)]);
  thread.error = error;
  return [];
}

const ATTEMPT = /\b(\d{1,4})\/(\d{1,4})\b/;

function errorNotice(
  level: "warn" | "error",
  category: "model_retry" | "error_reported",
  error: JsonObject,
): AgentEvent {
  const text = asText(error["message"]);
  const data = {
    code: findCode(error),
    ...defined({
      native_code: readName(error),
      http_status: readHttpStatus(error),
      details: asText(error["additionalDetails"]),
    }),
  };
  if (category === "error_reported") return toNotice("codex", category, { level, text, data });
  // "Reconnecting... 2/5"
  const [, attempt, max] = ATTEMPT.exec(text ?? "") ?? [];
  const counted = attempt === undefined ? {} : { attempt: Number(attempt), max_attempts: Number(max) };
  const wait = defined({ retry_after_ms: readRetryAfter(error) });
  return toNotice("codex", category, { level, text, data: { ...data, ...counted, ...wait } });
}

function subAgentNotice(
  thread: ThreadState,
  subtype: ResultEvent["subtype"],
  usage: ResultEvent["usage"],
  error: Failure | undefined,
): AgentEvent {
  const native = { thread_id: thread.id };
  const spent = defined({ usage, error });
  const data = { ...defined({ tool_use_id: thread.toolUseId }), subtype, ...spent, native };
  const level = subtype === "error" ? "error" : "info";
  return toNotice("codex", "subagent_finished", { level, text: error?.message, data });
}

function findSubtype(turn: JsonObject, thread: ThreadState): ResultEvent["subtype"] {
  if (turn["status"] === "completed") return "success";
  if (turn["status"] === "interrupted") return "interrupted";
  const error = findError(turn, thread);
  return error["codexErrorInfo"] === "sessionBudgetExceeded" ? "max_budget" : "error";
}

function findError(turn: JsonObject, thread: ThreadState): JsonObject {
  return isObject(turn["error"]) ? turn["error"] : (thread.error ?? {});
}

function findFailure(turn: JsonObject, thread: ThreadState, isInterrupted: boolean): Failure | undefined {
  const error = findError(turn, thread);
  const message = asText(error["message"]);
  if (message === undefined && isInterrupted) return undefined;
  return {
    code: findCode(error),
    ...defined({ native_code: readName(error) }),
    message: message ?? "Codex ended the turn with an error and no text",
    ...defined({
      retry_after_ms: readRetryAfter(error),
      http_status: readHttpStatus(error),
      details: asText(error["additionalDetails"]),
    }),
    ...omitNulls({ misalignment: error["misalignment"] }),
  };
}

function findCode(error: JsonObject): FailureCode {
  return toFailureCode({ names: [readName(error)], status: readHttpStatus(error), words: readText(error) });
}

function readRetryAfter(error: JsonObject): number | undefined {
  return parseRetryAfterMs(readText(error));
}

function readText(error: JsonObject): string {
  return `${asString(error["message"]) ?? ""} ${asString(error["additionalDetails"]) ?? ""}`;
}

/** Codex's own name for it; "other" is none. */
function readName(error: JsonObject): string | undefined {
  const info = error["codexErrorInfo"];
  const name = isObject(info) ? Object.keys(info)[0] : asText(info);
  return name === undefined || name === "" || name === "other" ? undefined : toSnake(name);
}

function readHttpStatus(error: JsonObject): number | undefined {
  const [details] = Object.values(asObject(error["codexErrorInfo"]));
  return asCount(asObject(details)["httpStatusCode"]);
}
