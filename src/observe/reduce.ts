// One frame of a session → rows. Pure: changes only the state it is given, does no I/O, reads no clock. The frames are
// our own (protocol/events.ts), so the same rows come out for every backend.
import { isObject, type JsonObject } from "../base/json.ts";
import { isCut } from "../protocol/cut-calls.ts";
import type { SessionRow } from "../protocol/session.ts";
import { isWaiting, notRun, waitOf } from "./asks.ts";
import { describeCall, toPatch, writtenKind } from "./calls.ts";
import { cutText, excerpt, tailOf } from "./excerpt.ts";
import { end, notRunOutcome, type Outcome, outcomeOf, outputText } from "./outcome.ts";
import type { EventRow, Row } from "./rows.ts";
import { addCall, callRow, type HeldResult, noteSession, type OpenCall, type SessionState } from "./state.ts";
import { endTurn, messageRow, startTurn } from "./turns.ts";

type Observe = (state: SessionState, frame: JsonObject, nowMs: number) => Row[];

/** Rows for the output of a running command: at most one a call in this time. */
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

/** Everything else, deltas above all, makes no row and changes nothing. */
export function isObserved(type: unknown): boolean {
  return OBSERVERS.has(type);
}

export function observe(state: SessionState, session: SessionRow, frame: object, nowMs: number): Row[] {
  const fields = frame as JsonObject;
  const observer = OBSERVERS.get(fields["type"]);
  if (observer === undefined) return [];
  noteSession(state, session);
  return observer(state, fields, nowMs);
}

/** The daemon stops: what is held will not be explained any more. */
export function flushHeld(state: SessionState, nowMs: number): Row[] {
  return releaseHeld(state, nowMs, { isInterrupted: false });
}

/** Calls in a message are complete; with partial messages they were announced before, without their input. */
function observeMessage(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const rows: Row[] = releaseHeld(state, nowMs);
  const blocks = Array.isArray(frame["content"]) ? frame["content"].filter(isObject) : [];
  if (frame["parent_tool_use_id"] === undefined) rows.push(...messageRow(state, blocks, nowMs));
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
  // With an index it stands in a stream that has only begun: the whole call follows in a message.
  if (index === undefined) return [...rows, ...startCall(state, { id, name, input, parent }, nowMs)];
  if (!state.calls.has(id)) addCall(state, newCall(state, { id, name, input, parent }, nowMs));
  return rows;
}

function observeToolResult(state: SessionState, frame: JsonObject, nowMs: number): Row[] {
  const id = frame["tool_use_id"];
  if (typeof id !== "string") return [];
  const known = state.calls.get(id);
  const call = known ?? newCall(state, { id, name: undefined, input: undefined, parent: undefined }, nowMs);
  state.calls.delete(id);
  const output = outputText(frame["output"]);
  const rows: Row[] = known === undefined || known.isTold ? [] : [tellStart(state, call, nowMs)];
  const outcome = outcomeOf({
    output,
    isError: frame["is_error"] === true,
    isCommand: call.item_type === "commandExecution",
    // Other tools count some codes as success, such as that of a grep without a match.
    tellsExitCode: call.tool_name === "shell",
    asks: state.asks.get(id),
  });
  if (outcome === undefined) {
    state.held.push({ call, output, atMs: nowMs });
    return rows;
  }
  return [...rows, endRow(state, call, outcome, { output: frame["output"], nowMs })];
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
    // Announced and then taken back: the agent asked its model again.
    if (!call.isTold) state.calls.delete(call.item_id);
    else {
      const isOver = frame["subtype"] === "interrupted" || state.crash !== undefined;
      const outcome = isOver ? cutOutcome(state, call) : droppedOutcome(state, call);
      if (outcome === undefined) continue;
      state.calls.delete(call.item_id);
      rows.push(endRow(state, call, outcome, { nowMs }));
    }
  }
  rows.push(...endTurn(state, frame, nowMs));
  for (const id of state.asks.keys()) if (!state.calls.has(id)) state.asks.delete(id);
  return rows;
}

interface Told {
  id: string;
  name: unknown;
  input: unknown;
  parent: unknown;
}

function newCall(state: SessionState, { id, name, input, parent }: Told, nowMs: number): OpenCall {
  return {
    ...describeCall(typeof name === "string" ? cutText(name, 200) : "unknown", input),
    item_id: id,
    ...(state.turn === undefined ? {} : { turn_id: state.turn.turn_id }),
    started_at_ms: nowMs,
    input: input === undefined ? undefined : JSON.parse(excerpt(input, 1024)),
    ...(typeof parent === "string" ? { parent } : {}),
    isTold: false,
    outputChars: 0,
    outputTail: "",
  };
}

/** A row the first time that the call is seen with its input, and none for the second telling of it. */
function startCall(state: SessionState, told: Told, nowMs: number): EventRow[] {
  const known = state.calls.get(told.id);
  if (known?.isTold === true) return [];
  const call = newCall(state, told, nowMs);
  addCall(state, call);
  return [tellStart(state, call, nowMs)];
}

function tellStart(state: SessionState, call: OpenCall, nowMs: number): EventRow {
  call.isTold = true;
  return callRow(state, call, nowMs, {
    event_type: "started",
    phase: "running",
    raw_payload_json: excerpt(toldOf(call)),
  });
}

/** A piece of what a running tool prints. */
function continueOutput(state: SessionState, { tool_use_id, text }: JsonObject, nowMs: number): Row[] {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  if (call === undefined || typeof text !== "string") return [];
  call.outputChars += text.length;
  call.outputTail = tailOf(call.outputTail + tailOf(text, OUTPUT_TAIL_CHARS), OUTPUT_TAIL_CHARS);
  return outputRow(state, call, nowMs);
}

/** All that a running tool shows by now. */
function showOutput(state: SessionState, { tool_use_id, content }: JsonObject, nowMs: number): Row[] {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  const text = outputText(content);
  if (call === undefined || text === "") return [];
  call.outputChars = text.length;
  call.outputTail = tailOf(text, OUTPUT_TAIL_CHARS);
  return outputRow(state, call, nowMs);
}

/** The first piece at once, then what there is now and then. */
function outputRow(state: SessionState, call: OpenCall, nowMs: number): Row[] {
  if (nowMs - (call.outputToldMs ?? Number.NEGATIVE_INFINITY) < OUTPUT_EVERY_MS) return [];
  call.outputToldMs = nowMs;
  return [
    callRow(state, call, nowMs, {
      event_type: "output_delta",
      phase: "running",
      latency_ms: ranMs(state, call, nowMs),
      raw_payload_json: excerpt({ ...toldOf(call), chars: call.outputChars, tail: call.outputTail }),
    }),
  ];
}

/** The input of a call, or its patch, may become known after it was shown; the end tells what it was then. */
function changeInput(state: SessionState, { tool_use_id, input, changes }: JsonObject): void {
  const call = typeof tool_use_id === "string" ? state.calls.get(tool_use_id) : undefined;
  if (call === undefined) return;
  if (isObject(input)) {
    Object.assign(call, describeCall(call.tool_name, input));
    call.input = JSON.parse(excerpt(input, 1024));
  }
  if (Array.isArray(changes)) Object.assign(call, toPatch(changes.filter(isObject)));
}

/** Results that were held back, once it is known what cut them off. `over`: the turn is, so all of them are due. */
function releaseHeld(state: SessionState, nowMs: number, over?: { isInterrupted: boolean }): EventRow[] {
  if (state.held.length === 0) return [];
  const held = state.held.splice(0);
  // Agents take their requests back before they say why.
  const isEarly = ({ call }: HeldResult): boolean =>
    over === undefined && notRun(state.asks.get(call.item_id), "withdrawn") !== undefined;
  state.held.push(...held.filter(isEarly));
  return held
    .filter((one) => !isEarly(one))
    .map(({ call, output, atMs }) => {
      const cause = over?.isInterrupted === true || isCut(output) ? "interrupted" : "withdrawn";
      return endRow(state, call, cutOutcome(state, call, cause), { output, nowMs, endedMs: atMs });
    });
}

/** The agent's death is not an interrupt, and an answer that ends the turn is not one either. */
function cutOutcome(
  state: SessionState,
  { item_id }: OpenCall,
  cause: "interrupted" | "withdrawn" = "interrupted",
): Outcome {
  const { crash, isCancelled } = state;
  const asks = state.asks.get(item_id);
  const reason = notRun(asks, crash === undefined ? cause : "agent_died");
  if (reason !== undefined) return notRunOutcome(reason, asks, crash?.message);
  if (crash !== undefined) return end("failed", crash.code, crash.message);
  return isCancelled ? end("cancelled", "cancelled_by_user") : end("interrupted", "interrupted");
}

/** Undefined: after a good end a command may still be running, and its result comes later. */
function droppedOutcome(state: SessionState, { item_id }: OpenCall): Outcome | undefined {
  const asks = state.asks.get(item_id);
  const reason = isWaiting(asks) ? undefined : notRun(asks, "withdrawn");
  return reason === undefined ? undefined : notRunOutcome(reason, asks);
}

/** The time a person took to decide is not the call's time. */
function ranMs(state: SessionState, { item_id, started_at_ms }: OpenCall, nowMs: number): number {
  return Math.max(0, nowMs - started_at_ms - waitOf(state.asks.get(item_id), nowMs));
}

/** A call that writes a whole file is named for what it did, once that is known. */
function nameWrite(call: OpenCall, kind: OpenCall["change_kind"]): void {
  if (call.change_kind === "write" && kind !== undefined) call.change_kind = kind;
}

interface EndOfCall {
  nowMs: number;
  output?: unknown;
  /** Absent: now. */
  endedMs?: number;
}

function endRow(state: SessionState, call: OpenCall, outcome: Outcome, ended: EndOfCall): EventRow {
  const { nowMs, output, endedMs = nowMs } = ended;
  nameWrite(call, state.asks.get(call.item_id)?.change?.change_kind ?? writtenKind(outputText(output)));
  const latency_ms = outcome.not_run === undefined ? ranMs(state, call, endedMs) : 0;
  state.asks.delete(call.item_id);
  return callRow(state, call, nowMs, {
    ...outcome,
    phase: "post",
    latency_ms,
    raw_payload_json: excerpt({ ...toldOf(call), ...(output === undefined ? {} : { output }) }),
  });
}

function toldOf({ tool_name, input, parent }: OpenCall): JsonObject {
  return { tool: tool_name, input, ...(parent === undefined ? {} : { parent_tool_use_id: parent }) };
}
