// The rows of a turn: its start, what the agent says in it, its end.
import { isObject, type JsonObject } from "../base/json.ts";
import { NO_WAIT, waitedMs } from "../base/wait-clock.ts";
import { cutText, excerpt } from "./excerpt.ts";
import type { EventRow, Row } from "./rows.ts";
import type { SessionState } from "./state.ts";
import type { TurnEvent } from "./types.ts";

const MAX_SAID_CHARS = 600;
const MAX_MESSAGE_CHARS = 500;

/** `task_started`, which the daemon says for every backend. */
export function startTurn(state: SessionState, data: JsonObject, nowMs: number): EventRow[] {
  const { turn_id, started_at_ms, origin } = data;
  if (typeof turn_id !== "string") return [];
  const startedMs = Number.isSafeInteger(started_at_ms) ? Number(started_at_ms) : nowMs;
  state.turn = { turn_id, started_at_ms: startedMs };
  return [
    turnRow(state, startedMs, {
      turn_id,
      event_type: "started",
      origin: origin === "agent" ? "agent" : "user",
    }),
  ];
}

export function messageRow(state: SessionState, blocks: readonly JsonObject[], nowMs: number): EventRow[] {
  const text = blocks
    .filter((block) => block["type"] === "text" && typeof block["text"] === "string")
    .map((block) => block["text"])
    .join("\n")
    .trim();
  if (text === "") return [];
  return [
    turnRow(state, nowMs, {
      ...(state.turn === undefined ? {} : { turn_id: state.turn.turn_id }),
      event_type: "message",
      raw_payload_json: excerpt({ text: cutText(text, MAX_SAID_CHARS) }),
    }),
  ];
}

export function endTurn(state: SessionState, result: JsonObject, nowMs: number): Row[] {
  const { turn, crash } = state;
  const turn_id = typeof result["turn_id"] === "string" ? result["turn_id"] : turn?.turn_id;
  const event_type = endOf(state, result);
  const isKnown = turn !== undefined && turn.turn_id === turn_id;
  const waited = isKnown ? waitedMs(state.waits, nowMs) : 0;
  const usage = isObject(result["usage"]) ? result["usage"] : {};
  const row: Partial<TurnEvent> & Pick<TurnEvent, "event_type"> = {
    ...(turn_id === undefined ? {} : { turn_id }),
    event_type,
    ...count("duration_ms", result["duration_ms"] ?? (isKnown ? nowMs - turn.started_at_ms : undefined)),
    ...(waited > 0 ? { waited_ms: waited } : {}),
    ...count("time_to_first_token_ms", result["time_to_first_token_ms"]),
    ...count("input_tokens", usage["input_tokens"]),
    ...count("output_tokens", usage["output_tokens"]),
    ...(Number.isFinite(result["cost_usd"]) ? { cost_usd: Number(result["cost_usd"]) } : {}),
    final_status: event_type === "completed" ? "success" : event_type,
    ...errorOf(result),
    raw_payload_json: excerpt({ subtype: result["subtype"], usage, error: result["error"] }),
  };
  const rows: Row[] = [turnRow(state, nowMs, row)];
  if (!isKnown && crash !== undefined && turn_id !== undefined) {
    // The daemon itself has died: which calls were open is only in the database.
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

function endOf({ isCancelled }: SessionState, result: JsonObject): TurnEvent["event_type"] {
  const error = isObject(result["error"]) ? result["error"] : {};
  if (result["subtype"] === "success") return "completed";
  if (result["subtype"] === "interrupted") return isCancelled ? "cancelled" : "interrupted";
  return /timeout|timed_out/.test(String(error["code"] ?? "")) ? "timeout" : "failed";
}

/** A limit that ended the turn (`max_turns`) is named as the code. */
function errorOf(result: JsonObject): Pick<TurnEvent, "error_code" | "error_message"> {
  const { subtype, error } = result;
  if (subtype === "success" || subtype === "interrupted") return {};
  const { code, message } = isObject(error) ? error : { code: undefined, message: undefined };
  const error_code = code ?? (subtype === "error" ? "error" : subtype);
  return {
    error_code: String(error_code ?? "error"),
    ...(typeof message === "string" ? { error_message: cutText(message, MAX_MESSAGE_CHARS) } : {}),
  };
}

function turnRow(
  state: SessionState,
  created_at_ms: number,
  rest: Partial<TurnEvent> & Pick<TurnEvent, "event_type">,
): EventRow {
  const row: TurnEvent = {
    session_id: state.session_id,
    source_provider: state.source_provider,
    ...(state.thread_id === undefined ? {} : { thread_id: state.thread_id }),
    ...rest,
    created_at_ms,
  };
  return { kind: "turn", row };
}

function count<K extends string>(key: K, value: unknown): { [P in K]?: number } {
  const isCount = typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
  return (isCount ? { [key]: Math.round(value) } : {}) as { [P in K]?: number };
}
