// Messages of an ACP agent → reports. Pure: state in, reports out; the run performs them. Reports keep the order of the
// frames.

import type { JsonObject } from "../../base/json.ts";
import type { RpcId } from "../../base/jsonrpc.ts";
import { asObject, asString, asText } from "../../base/values.ts";
import { introduce } from "./intro.ts";
import {
  toAgentNotice,
  toCommandsNotice,
  toConfigNotice,
  toInfoNotice,
  toModeNotice,
  toOtherNotice,
  toPlanNotice,
  toUnknownNotice,
  toUsageNotice,
} from "./notices.ts";
import { toReportsOfRequest, withdraw, withdrawAll } from "./requests.ts";
import { type Answer, judge } from "./results.ts";
import { type AcpReport, type AcpState, reportNotice, toReports } from "./state.ts";
import { closeSubAgent, findParent, translateDemianEvent } from "./sub-agents.ts";
import { addChunk, asFinalAnswer, closeText, closeTexts } from "./texts.ts";
import { closeTools, updateTool } from "./tools.ts";

/** What the process passes to a session, in order. */
export type Frame =
  | { kind: "notification"; method: string; params: JsonObject }
  | { kind: "request"; id: RpcId; method: string; params: JsonObject }
  /** To the prompt that runs. */
  | { kind: "answer"; answer: Answer };

type Translate = (state: AcpState, update: JsonObject) => AcpReport[];

/** Outside a turn these would look like part of the next one. */
const CONTENT: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  [
    "agent_message_chunk",
    (state, update) => toReports(addChunk(state, "text", update, findParent(state, update))),
  ],
  [
    "agent_thought_chunk",
    (state, update) => toReports(addChunk(state, "thinking", update, findParent(state, update))),
  ],
  ["user_message_chunk", userChunk],
  ["tool_call", toolUpdate],
  ["tool_call_update", toolUpdate],
]);

const UPDATES: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["plan", toPlanNotice],
  ["usage_update", toUsageNotice],
  ["session_info_update", toInfoNotice],
  ["available_commands_update", toCommandsNotice],
  ["config_option_update", toConfigNotice],
  ["current_mode_update", toModeNotice],
  ["notice", toAgentNotice],
]);

export function translate(state: AcpState, frame: Frame): AcpReport[] {
  const reports = translateFrame(state, frame);
  if (state.options.include_raw_events !== true) return reports;
  const raw =
    frame.kind === "answer" ? makeReply(frame.answer) : { method: frame.method, params: frame.params };
  return reports.map((report) =>
    report.kind === "event" ? { kind: "event", event: { ...report.event, raw } } : report,
  );
}

/** A prompt is about to be sent. */
export function beginTurn(state: AcpState): AcpReport[] {
  state.turn = { isCancelled: false, isDeclined: false, failure: undefined, isFailed: false, lastText: "" };
  state.texts.clear();
  return introduce(state);
}

/** We are about to interrupt: open and further requests are answered. */
export function cancelTurn(state: AcpState): AcpReport[] {
  if (state.turn !== undefined) state.turn.isCancelled = true;
  return withdrawAll(state, "the turn was interrupted", true);
}

/** The prompt will not be answered (the agent is gone, or the turn abandoned): everything but the result. */
export function abandonTurn(state: AcpState, why: string): AcpReport[] {
  const reports = [
    ...withdrawAll(state, why, false),
    ...toReports(closeTexts(state)),
    ...closeWork(state, why),
  ];
  state.turn = undefined;
  return reports;
}

function translateFrame(state: AcpState, frame: Frame): AcpReport[] {
  if (frame.kind === "answer") return endTurn(state, frame.answer);
  if (frame.kind === "request") return toReportsOfRequest(state, frame);
  const { method, params } = frame;
  if (method === "$/cancel_request") return withdraw(state, params["requestId"]);
  if (method === "_demian/event") return translateDemianEvent(state, method, params);
  if (method !== "session/update") return toOtherNotice(state, method, params);
  const update = asObject(params["update"]);
  const kind = asString(update["sessionUpdate"]) ?? "";
  const content = CONTENT.get(kind);
  if (content !== undefined)
    return state.turn === undefined ? stray(state, kind, update) : content(state, update);
  return UPDATES.get(kind)?.(state, update) ?? toUnknownNotice(state, kind, update);
}

/** The result is the last event of a turn. */
function endTurn(state: AcpState, answer: Answer): AcpReport[] {
  const { turn } = state;
  // The response to an abandoned prompt.
  if (turn === undefined) return [];
  // The turn is over for the agent: no one waits for these answers.
  const withdrawn = withdrawAll(state, "the turn has ended", true);
  const why = turn.isCancelled ? "interrupted" : "the turn ended before this tool returned a result";
  const said = closeTexts(state);
  const work = closeWork(state, why);
  const { before, result } = judge(state, turn, answer);
  const texts = result.subtype === "success" ? said.map(asFinalAnswer) : said;
  state.turn = undefined;
  return [...withdrawn, ...toReports(texts), ...work, ...before, { kind: "event", event: result }];
}

/** A sub-agent's activity ends before it, and it before the call that started it. */
function closeWork(state: AcpState, why: string): AcpReport[] {
  return closeTools(state, why).flatMap((event) => {
    const ended = event.type === "agent.tool_result" ? closeSubAgent(state, event.tool_use_id, why) : [];
    return [...ended, ...toReports([event])];
  });
}

/** A tool call ends the speaker's text; so does the end of a sub-agent's call. */
function toolUpdate(state: AcpState, update: JsonObject): AcpReport[] {
  const id = asText(update["toolCallId"]) ?? "";
  const parent = findParent(state, update) ?? state.tools.get(id)?.parent;
  const reports = updateTool(state, update);
  const events = reports.flatMap((report) => (report.kind === "event" ? [report.event] : []));
  if (events.length === 0) return reports;
  const isOver = events.some(({ type }) => type === "agent.tool_result");
  const said = [...(isOver ? closeText(state, id) : []), ...closeText(state, parent)];
  const ended = isOver ? closeSubAgent(state, id, "the call that started it has ended") : [];
  return [...toReports(said), ...ended, ...reports];
}

/** Live, an agent sends user messages only for text it made up itself. */
function userChunk(state: AcpState, update: JsonObject): AcpReport[] {
  const text = asString(asObject(update["content"])["text"]);
  const data = text === undefined ? { native: update } : undefined;
  return [reportNotice(state, "injected_message", { text, data })];
}

/** No turn is running: it belongs to a finished one, or to none. */
function stray(state: AcpState, kind: string, update: JsonObject): AcpReport[] {
  if (kind === "tool_call" || kind === "tool_call_update") {
    const id = asText(update["toolCallId"]) ?? "";
    if (state.doneTools.has(id) || state.tools.has(id)) return updateTool(state, update);
    const { sessionUpdate: _kind, ...data } = update;
    return [reportNotice(state, "acp_unknown_tool_call", { data })];
  }
  const text = asString(asObject(update["content"])["text"]);
  if (text === "") return [];
  const native = text === undefined ? { native: { content: update["content"] } } : {};
  return [reportNotice(state, "late_text", { text, data: { kind, ...native } })];
}

function makeReply(answer: Answer): unknown {
  return "error" in answer ? { error: answer.error.message } : { result: answer.result };
}
