// Turns and how they end. Only turns of the root thread make an `agent.result`; a sub-agent's end is a notice.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { AgentEvent, ResultEvent } from "../../../protocol/events.ts";
import { type FailureCode, failureCode, retryAfterMs } from "../../../protocol/failures.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { countOf, known, objectOf, optional, stringOf, textOf, toSnake } from "../../values.ts";
import { introduce } from "./intro.ts";
import { closeItems } from "./items.ts";
import { type CodexState, type Report, type ThreadState, toReports } from "./state.ts";

const AUTH_ADVICE = "Run `codex login` to re-authenticate.";

type Failure = NonNullable<ResultEvent["error"]> & { code: FailureCode };

export function startTurn(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  const turnId = stringOf(objectOf(params["turn"])["id"]);
  if (turnId === undefined) return [];
  thread.turnId = turnId;
  thread.error = undefined;
  thread.spent = undefined;
  thread.diff = undefined;
  if (thread.id !== state.threadId) return [];
  // The context window is known only after the first model call.
  return [...introduce(state, {}), { kind: "turn_started", turnId }];
}

export function endTurn(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  const turn = objectOf(params["turn"]);
  const subtype = subtypeOf(turn, thread);
  const isInterrupted = turn["status"] === "interrupted";
  // Codex sends no end for what an interrupt has cut off. Otherwise a command may go on behind the turn.
  const closed = isInterrupted ? closeItems(thread) : [];
  const turnId = stringOf(turn["id"]) ?? thread.turnId ?? "";
  const failure = subtype === "success" ? undefined : failureOf(turn, thread, isInterrupted);
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
    ...optional("duration_ms", countOf(turn["durationMs"])),
    num_turns: 1,
    ...optional("usage", spent),
    ...optional("error", failure),
  };
  const isAuth = failure?.code === "auth_failed";
  return [
    ...toReports(closed),
    ...(isAuth ? [{ kind: "auth_failed", message: AUTH_ADVICE } as const] : []),
    { kind: "event", event },
    { kind: "turn_ended", turnId },
  ];
}

/** `error`: a retry is news; what ends the turn is told by its result. */
export function translateError(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  const error = objectOf(params["error"]);
  const text = textOf(error["message"]) ?? "Codex met an error and did not say which";
  const details = textOf(error["additionalDetails"]);
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
  const text = textOf(error["message"]);
  const data = {
    code: codeOf(error),
    ...optional("native_code", nameOf(error)),
    ...optional("http_status", httpStatusOf(error)),
    ...optional("details", textOf(error["additionalDetails"])),
  };
  if (category === "error_reported") return toNotice("codex", category, { level, text, data });
  // "Reconnecting... 2/5"
  const [, attempt, max] = ATTEMPT.exec(text ?? "") ?? [];
  const counted = attempt === undefined ? {} : { attempt: Number(attempt), max_attempts: Number(max) };
  const wait = optional("retry_after_ms", retryAfterOf(error));
  return toNotice("codex", category, { level, text, data: { ...data, ...counted, ...wait } });
}

function subAgentNotice(
  thread: ThreadState,
  subtype: ResultEvent["subtype"],
  usage: ResultEvent["usage"],
  error: Failure | undefined,
): AgentEvent {
  const native = { thread_id: thread.id };
  const spent = { ...optional("usage", usage), ...optional("error", error) };
  const data = { ...optional("tool_use_id", thread.toolUseId), subtype, ...spent, native };
  const level = subtype === "error" ? "error" : "info";
  return toNotice("codex", "subagent_finished", { level, text: error?.message, data });
}

function subtypeOf(turn: JsonObject, thread: ThreadState): ResultEvent["subtype"] {
  if (turn["status"] === "completed") return "success";
  if (turn["status"] === "interrupted") return "interrupted";
  const error = errorOf(turn, thread);
  return error["codexErrorInfo"] === "sessionBudgetExceeded" ? "max_budget" : "error";
}

function errorOf(turn: JsonObject, thread: ThreadState): JsonObject {
  return isObject(turn["error"]) ? turn["error"] : (thread.error ?? {});
}

function failureOf(turn: JsonObject, thread: ThreadState, isInterrupted: boolean): Failure | undefined {
  const error = errorOf(turn, thread);
  const message = textOf(error["message"]);
  if (message === undefined && isInterrupted) return undefined;
  return {
    code: codeOf(error),
    ...optional("native_code", nameOf(error)),
    message: message ?? "Codex ended the turn with an error and no text",
    ...optional("retry_after_ms", retryAfterOf(error)),
    ...optional("http_status", httpStatusOf(error)),
    ...optional("details", textOf(error["additionalDetails"])),
    ...known("misalignment", error["misalignment"]),
  };
}

function codeOf(error: JsonObject): FailureCode {
  return failureCode({ names: [nameOf(error)], status: httpStatusOf(error), words: wordsOf(error) });
}

function retryAfterOf(error: JsonObject): number | undefined {
  return retryAfterMs(wordsOf(error));
}

function wordsOf(error: JsonObject): string {
  return `${stringOf(error["message"]) ?? ""} ${stringOf(error["additionalDetails"]) ?? ""}`;
}

/** Codex's own name for it; "other" is none. */
function nameOf(error: JsonObject): string | undefined {
  const info = error["codexErrorInfo"];
  const name = isObject(info) ? Object.keys(info)[0] : textOf(info);
  return name === undefined || name === "" || name === "other" ? undefined : toSnake(name);
}

function httpStatusOf(error: JsonObject): number | undefined {
  const [details] = Object.values(objectOf(error["codexErrorInfo"]));
  return countOf(objectOf(details)["httpStatusCode"]);
}
