// Rows of a turn: its start, the agent's messages, its end.

import { isObject, type JsonObject } from "../base/json.ts";
import { defined } from "../base/values.ts";
import { computeWaitedMs, NO_WAIT } from "../base/wait-clock.ts";
import { cutText, toExcerpt } from "./excerpt.ts";
import type { EventRow, Row } from "./rows.ts";
import type { SessionState } from "./state.ts";
import type { TurnEvent } from "./types.ts";
import { readCost, readTokens } from "./usage.ts";

const MAX_SAID_CHARS = 600;
const MAX_MESSAGE_CHARS = 500;

/** From `task_started`, which the daemon sends for every backend. */
export function startTurn(state: SessionState, data: JsonObject, nowMs: number): EventRow[] {
  const { turn_id, started_at_ms, origin } = data;
  if (typeof turn_id !== "string") return [];
  const startedMs = Number.isSafeInteger(started_at_ms) ? Number(started_at_ms) : nowMs;
  state.turn = { turn_id, started_at_ms: startedMs };
  return [
    toTurnRow(state, startedMs, {
      turn_id,
      event_type: "started",
      origin: origin === "agent" ? "agent" : "user",
    }),
  ];
}

export function toMessageRow(state: SessionState, blocks: readonly JsonObject[], nowMs: number): EventRow[] {
  const text = blocks
    .filter((block) => block["type"] === "text" && typeof block["text"] === "string")
    .map((block) => block["text"])
    .join("\n")
    .trim();
  if (text === "") return [];
  return [
    toTurnRow(state, nowMs, {
      ...(state.turn === undefined ? {} : { turn_id: state.turn.turn_id }),
      event_type: "message",
      raw_payload_json: toExcerpt({ text: cutText(text, MAX_SAID_CHARS) }),
    }),
  ];
}

export function endTurn(state: SessionState, result: JsonObject, nowMs: number): Row[] {
  const { turn, crash } = state;
  const turn_id = typeof result["turn_id"] === "string" ? result["turn_id"] : turn?.turn_id;
  const event_type = toEndType(state, result);
  const isKnown = turn !== undefined && turn.turn_id === turn_id;
  const waited = isKnown ? computeWaitedMs(state.waits, nowMs) : 0;
  const tookMs = isKnown ? nowMs - turn.started_at_ms : undefined;
  // What an agent reports may leave out the time that it waited for answers.
  const isWhole = Number(result["duration_ms"]) >= waited;
  const usage = isObject(result["usage"]) ? result["usage"] : {};
  const row: Partial<TurnEvent> & Pick<TurnEvent, "event_type"> = {
    ...defined({ turn_id }),
    event_type,
    ...toCount("duration_ms", isWhole ? result["duration_ms"] : tookMs),
    ...(waited > 0 ? { waited_ms: waited } : {}),
    ...toCount("time_to_first_token_ms", result["time_to_first_token_ms"]),
    ...toCount("input_tokens", usage["input_tokens"]),
    ...toCount("output_tokens", usage["output_tokens"]),
    ...(Number.isFinite(result["cost_usd"]) ? { cost_usd: Number(result["cost_usd"]) } : {}),
    final_status: event_type === "completed" ? "success" : event_type,
    ...readError(result),
    raw_payload_json: toExcerpt({ subtype: result["subtype"], usage, error: result["error"] }),
  };
  const spent = defined({ turn_id, duration_ms: row.duration_ms, waited_ms: row.waited_ms });
  const rows: Row[] = [toTurnRow(state, nowMs, row), toUsageRow(state, result, nowMs, spent)];
  if (!isKnown && crash !== undefined && turn_id !== undefined) {
    // The daemon itself had died: only the database knows which calls were open.
    const { session_id } = state;
    const cut = { session_id, turn_id, error_code: crash.code, error_message: crash.message };
    rows.unshift({ kind: "cut", row: { ...cut, created_at_ms: nowMs } });
  }
  delete state.turn;
  delete state.crash;
  state.isCancelled = false;
  state.waits = NO_WAIT;
  return rows;
}

/** A result without a turn counts by its time. */
function toUsageRow(
  { session_id, backend, project, inputHasCached }: SessionState,
  result: JsonObject,
  nowMs: number,
  { turn_id = `at ${nowMs}`, ...times }: { turn_id?: string; duration_ms?: number; waited_ms?: number },
): Row {
  const spent = { ...readTokens(result["usage"], inputHasCached), ...readCost(result), ...times };
  const row = { session_id, turn_id, ended_at_ms: nowMs, agent: backend, ...defined({ project }), ...spent };
  return { kind: "usage", row };
}

function toEndType({ isCancelled }: SessionState, result: JsonObject): TurnEvent["event_type"] {
  const error = isObject(result["error"]) ? result["error"] : {};
  if (result["subtype"] === "success") return "completed";
  if (result["subtype"] === "interrupted") return isCancelled ? "cancelled" : "interrupted";
  return /timeout|timed_out/.test(String(error["code"] ?? "")) ? "timeout" : "failed";
}

/** For a limit that ended the turn (`max_turns`), the code names it. */
function readError(result: JsonObject): Pick<TurnEvent, "error_code" | "error_message"> {
  const { subtype, error } = result;
  if (subtype === "success" || subtype === "interrupted") return {};
  const { code, message } = isObject(error) ? error : { code: undefined, message: undefined };
  const error_code = code ?? (subtype === "error" ? "error" : subtype);
  return {
    error_code: String(error_code ?? "error"),
    ...(typeof message === "string" ? { error_message: cutText(message, MAX_MESSAGE_CHARS) } : {}),
  };
}

function toTurnRow(
  state: SessionState,
  created_at_ms: number,
  rest: Partial<TurnEvent> & Pick<TurnEvent, "event_type">,
): EventRow {
  const row: TurnEvent = {
    session_id: state.session_id,
    source_provider: state.source_provider,
    ...defined({ thread_id: state.thread_id }),
    ...rest,
    created_at_ms,
    ...defined({ root_session_id: state.root, parent_session_id: state.parent, model: state.model }),
  };
  return { kind: "turn", row };
}

function toCount<K extends string>(key: K, value: unknown): { [P in K]?: number } {
  const isCount = typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
  return (isCount ? { [key]: Math.round(value) } : {}) as { [P in K]?: number };
}
