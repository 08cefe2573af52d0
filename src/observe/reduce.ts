// Turns a frame of a session into rows. Changes only the given state; no I/O, no clock. Frames are ours
// (protocol/events.ts), so rows are the same for every backend.

import { isObject, type JsonObject } from "../base/json.ts";
import { defined } from "../base/values.ts";
import { isCut } from "../protocol/cut-calls.ts";
import { countWaitMs, explainNotRun, isWaiting } from "./asks.ts";
import { describeCall, findWrittenKind, toPatch } from "./calls.ts";
import { cutText, keepTail, toExcerpt } from "./excerpt.ts";
import { joinOutput, type Outcome, toEnd, toNotRunOutcome, toOutcome } from "./outcome.ts";
import type { EventRow, Row } from "./rows.ts";
import {
  addCall,
  type HeldResult,
  noteSession,
  type ObservedSession,
  type OpenCall,
  type SessionState,
  toCallRow,
} from "./state.ts";
import { endTurn, startTurn, toMessageRow } from "./turns.ts";

type Observe = (state: SessionState, frame: JsonObject, nowMs: number) => Row[];

/** At most one row per call in this time for the output of a running command. */
const OUTPUT_EVERY_MS = 1000;
const OUTPUT_TAIL_CHARS = 500;

const OBSERVERS: ReadonlyMap<unknown, Observe> = new Map<unknown, Observe>([
  ["agent.message", observeMessage],
  ["agent.tool_use", observeToolUse],
  ["agent.tool_result", observeToolResult],
  ["agent.notice", observeNotice],
  ["agent.result", observeResult],
  ["blemeesd.error", observeError],
]);

/** All other frames, mostly deltas, are ignored. */
export function isObserved(type: unknown): boolean {
  return OBSERVERS.has(type);
}

export function observe(state: SessionState, session: ObservedSession, frame: object, nowMs: number): Row[] {
  const fields = frame as JsonObject;
  const observer = OBSERVERS.get(fields["type"]);
  if (observer === undefined) return [];
  noteSession(state, session);
  return observer(state, fields, nowMs);
}

/** On shutdown: ends held results without a cause. */
export function flushHeld(state: SessionState, nowMs: number): Row[] {
  return releaseHeld(state, nowMs, { isInterrupted: false });
}

/** Calls in a message are complete. With partial messages they were announced earlier, without input. */
function observeMessage(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const rows: Row[] = releaseHeld(state, nowMs);
  const blocks = Array.isArray(frame["content"]) ? frame["content"].filter(isObject) : [];
  if (frame["parent_tool_use_id"] === undefined) rows.push(...toMessageRow(state, blocks, nowMs));
  for (const { type, id, name, input } of blocks) {
    if (type !== "tool_use" || typeof id !== "string") continue;
    rows.push(...startCall(state, { id, name, input, parent: frame["parent_tool_use_id"] }, nowMs));
  }
  return rows;
}

function observeToolUse(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const { tool_use_id: id, name, input, index, parent_tool_use_id: parent } = frame;
  const rows: Row[] = releaseHeld(state, nowMs);
  if (typeof id !== "string") return rows;
  // With an index it is part of a stream: the whole call follows in a message.
  if (index === undefined) return [...rows, ...startCall(state, { id, name, input, parent }, nowMs)];
  if (!state.calls.has(id)) addCall(state, createCall(state, { id, name, input, parent }, nowMs));
  return rows;
}

function observeToolResult(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const id = frame["tool_use_id"];
  if (typeof id !== "string") return [];
  const known = state.calls.get(id);
  const call =
    known ?? createCall(state, { id, name: undefined, input: undefined, parent: undefined }, nowMs);
  state.calls.delete(id);
  const output = joinOutput(frame["output"]);
  const rows: Row[] = known === undefined || known.isReported ? [] : [reportStart(state, call, nowMs)];
  const outcome = toOutcome({
    output,
    isError: frame["is_error"] === true,
    isCommand: call.item_type === "commandExecution",
    // Other tools treat some non-zero codes as success, for example grep without a match.
    reportsExitCode: call.tool_name === "shell",
    asks: state.asks.get(id),
  });
  if (outcome === undefined) {
    state.held.push({ call, output, atMs: nowMs });
    return rows;
  }
  return [...rows, toEndRow(state, call, outcome, { output: frame["output"], nowMs })];
}

function observeNotice(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const data = isObject(frame["data"]) ? frame["data"] : {};
  switch (frame["category"]) {
    case "tool_output":
      return continueOutput(state, data, nowMs);
    case "tool_progress":
      return showOutput(state, data, nowMs);
    case "tool_input":
      changeInput(state, data);
      return [];
    case "task_started":
      return [...releaseHeld(state, nowMs, { isInterrupted: false }), ...startTurn(state, data, nowMs)];
    case "subagent_finished":
      return releaseHeld(state, nowMs);
    default:
      return [];
  }
}

function observeError(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  if (frame["code"] !== "backend_crashed") return [];
  state.crash = { code: "backend_crashed", message: String(frame["message"] ?? "the agent died") };
  return releaseHeld(state, nowMs);
}

function observeResult(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const error = isObject(frame["error"]) ? frame["error"] : {};
  if (error["code"] === "backend_crashed") {
    state.crash ??= { code: "backend_crashed", message: String(error["message"] ?? "") };
  }
  const rows: Row[] = releaseHeld(state, nowMs, { isInterrupted: frame["subtype"] === "interrupted" });
  for (const call of [...state.calls.values()]) {
    // Announced and then dropped: the agent retried its model.
    if (!call.isReported) state.calls.delete(call.item_id);
    else {
      const isOver = frame["subtype"] === "interrupted" || state.crash !== undefined;
      const outcome = isOver ? toCutOutcome(state, call) : toDroppedOutcome(state, call);
      if (outcome === undefined) continue;
      state.calls.delete(call.item_id);
      rows.push(toEndRow(state, call, outcome, { nowMs }));
    }
  }
  rows.push(...endTurn(state, frame, nowMs));
  for (const id of state.asks.keys()) if (!state.calls.has(id)) state.asks.delete(id);
  return rows;
}

interface CallStart {
  id: string;
  name: unknown;
  input: unknown;
  parent: unknown;
}

function createCall(state: SessionState, { id, name, input, parent }: CallStart, nowMs: number): OpenCall {
  return {
    ...describeCall(typeof name === "string" ? cutText(name, 200) : "unknown", input),
    item_id: id,
    ...(state.turn === undefined ? {} : { turn_id: state.turn.turn_id }),
    started_at_ms: nowMs,
    input: input === undefined ? undefined : JSON.parse(toExcerpt(input, 1024)),
    ...(typeof parent === "string" ? { parent } : {}),
    isReported: false,
    outputChars: 0,
    outputTail: "",
  };
}

/** A row the first time a call appears with its input; none if it appears again. */
function startCall(state: SessionState, start: CallStart, nowMs: number): EventRow[] {
  const known = state.calls.get(start.id);
  if (known?.isReported === true) return [];
  const call = createCall(state, start, nowMs);
  addCall(state, call);
  return [reportStart(state, call, nowMs)];
}

function reportStart(state: SessionState, call: OpenCall, nowMs: number): EventRow {
  call.isReported = true;
  return toCallRow(state, call, nowMs, {
    event_type: "started",
    phase: "running",
    raw_payload_json: toExcerpt(toPayload(call)),
  });
}

/** Adds a piece of a running tool's output. */
function continueOutput(state: SessionState, { tool_use_id, text }: JsonObject, nowMs: number): Row[] {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  if (call === undefined || typeof text !== "string") return [];
  call.outputChars += text.length;
  call.outputTail = keepTail(call.outputTail + keepTail(text, OUTPUT_TAIL_CHARS), OUTPUT_TAIL_CHARS);
  return toOutputRow(state, call, nowMs);
}

/** Replaces a running tool's output. */
function showOutput(state: SessionState, { tool_use_id, content }: JsonObject, nowMs: number): Row[] {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  const text = joinOutput(content);
  if (call === undefined || text === "") return [];
  call.outputChars = text.length;
  call.outputTail = keepTail(text, OUTPUT_TAIL_CHARS);
  return toOutputRow(state, call, nowMs);
}

/** Reports the first output at once, then periodically. */
function toOutputRow(state: SessionState, call: OpenCall, nowMs: number): Row[] {
  if (nowMs - (call.outputReportedMs ?? Number.NEGATIVE_INFINITY) < OUTPUT_EVERY_MS) return [];
  call.outputReportedMs = nowMs;
  return [
    toCallRow(state, call, nowMs, {
      event_type: "output_delta",
      phase: "running",
      latency_ms: countRunMs(state, call, nowMs),
      raw_payload_json: toExcerpt({ ...toPayload(call), chars: call.outputChars, tail: call.outputTail }),
    }),
  ];
}

/** A call's input or patch may become known after its start; the end row has it. */
function changeInput(state: SessionState, { tool_use_id, input, changes }: JsonObject): void {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  if (call === undefined) return;
  if (isObject(input)) {
    Object.assign(call, describeCall(call.tool_name, input));
    call.input = JSON.parse(toExcerpt(input, 1024));
  }
  if (Array.isArray(changes)) Object.assign(call, toPatch(changes.filter(isObject)));
}

/** Ends held results once their cause is known. With `over` the turn has ended and all of them are due. */
function releaseHeld(state: SessionState, nowMs: number, over?: { isInterrupted: boolean }): EventRow[] {
  if (state.held.length === 0) return [];
  const held = state.held.splice(0);
  // Agents withdraw their requests before they say why.
  const isEarly = ({ call }: HeldResult): boolean =>
    over === undefined && explainNotRun(state.asks.get(call.item_id), "withdrawn") !== undefined;
  state.held.push(...held.filter(isEarly));
  return held
    .filter((one) => !isEarly(one))
    .map(({ call, output, atMs }) => {
      const cause = over?.isInterrupted === true || isCut(output) ? "interrupted" : "withdrawn";
      return toEndRow(state, call, toCutOutcome(state, call, cause), { output, nowMs, endedMs: atMs });
    });
}

/** Neither the agent's exit nor an answer that ends the turn counts as an interrupt. */
function toCutOutcome(
  state: SessionState,
  { item_id }: OpenCall,
  cause: "interrupted" | "withdrawn" = "interrupted",
): Outcome {
  const { crash, isCancelled } = state;
  const asks = state.asks.get(item_id);
  const reason = explainNotRun(asks, crash === undefined ? cause : "agent_died");
  if (reason !== undefined) return toNotRunOutcome(reason, asks, crash?.message);
  if (crash !== undefined) return toEnd("failed", crash.code, crash.message);
  return isCancelled ? toEnd("cancelled", "cancelled_by_user") : toEnd("interrupted", "interrupted");
}

/** Undefined if the command may still be running after a successful turn; its result comes later. */
function toDroppedOutcome(state: SessionState, { item_id }: OpenCall): Outcome | undefined {
  const asks = state.asks.get(item_id);
  const reason = isWaiting(asks) ? undefined : explainNotRun(asks, "withdrawn");
  return reason === undefined ? undefined : toNotRunOutcome(reason, asks);
}

/** The time that requests were pending does not count. */
function countRunMs(state: SessionState, { item_id, started_at_ms }: OpenCall, nowMs: number): number {
  return Math.max(0, nowMs - started_at_ms - countWaitMs(state.asks.get(item_id), nowMs));
}

/** Replaces `write` with what the call did, once that is known. */
function nameWrite(call: OpenCall, kind: OpenCall["change_kind"]): void {
  if (call.change_kind === "write" && kind !== undefined) call.change_kind = kind;
}

interface EndOfCall {
  nowMs: number;
  output?: unknown;
  /** Absent: now. */
  endedMs?: number;
}

function toEndRow(state: SessionState, call: OpenCall, outcome: Outcome, ended: EndOfCall): EventRow {
  const { nowMs, output, endedMs = nowMs } = ended;
  nameWrite(call, state.asks.get(call.item_id)?.change?.change_kind ?? findWrittenKind(joinOutput(output)));
  const latency_ms = outcome.not_run === undefined ? countRunMs(state, call, endedMs) : 0;
  state.asks.delete(call.item_id);
  return toCallRow(state, call, nowMs, {
    ...outcome,
    phase: "post",
    latency_ms,
    raw_payload_json: toExcerpt({ ...toPayload(call), ...defined({ output }) }),
  });
}

function toPayload({ tool_name, input, parent }: OpenCall): JsonObject {
  return { tool: tool_name, input, ...defined({ parent_tool_use_id: parent }) };
}
