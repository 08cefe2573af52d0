// What an ACP agent sends → reports. Pure: state in, reports out; the run does what they say. The order of the reports is
// the order of the frames.
import type { JsonObject } from "../../base/json.ts";
import type { RpcId } from "../../base/jsonrpc.ts";
import { objectOf, stringOf, textOf } from "../values.ts";
import { introduce } from "./intro.ts";
import {
  agentNotice,
  commandsNotice,
  configNotice,
  infoNotice,
  modeNotice,
  otherNotification,
  planNotice,
  unknownUpdate,
  usageNotice,
} from "./notices.ts";
import { toReportsOfRequest, withdraw, withdrawAll } from "./requests.ts";
import { type Answer, judge } from "./results.ts";
import { type AcpState, notice, type Report, toReports } from "./state.ts";
import { closeSubAgent, demianEvent, parentIn } from "./sub-agents.ts";
import { addChunk, asFinalAnswer, closeText, closeTexts } from "./texts.ts";
import { closeTools, updateTool } from "./tools.ts";

/** What the process hands to a session, in the order in which it was printed. */
export type Frame =
  | { kind: "notification"; method: string; params: JsonObject }
  | { kind: "request"; id: RpcId; method: string; params: JsonObject }
  /** To the prompt that runs. */
  | { kind: "answer"; answer: Answer };

type Translate = (state: AcpState, update: JsonObject) => Report[];

/** Said outside of a turn, these would look like part of the next one. */
const CONTENT: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  [
    "agent_message_chunk",
    (state, update) => toReports(addChunk(state, "text", update, parentIn(state, update))),
  ],
  [
    "agent_thought_chunk",
    (state, update) => toReports(addChunk(state, "thinking", update, parentIn(state, update))),
  ],
  ["user_message_chunk", userChunk],
  ["tool_call", toolUpdate],
  ["tool_call_update", toolUpdate],
]);

const UPDATES: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["plan", planNotice],
  ["usage_update", usageNotice],
  ["session_info_update", infoNotice],
  ["available_commands_update", commandsNotice],
  ["config_option_update", configNotice],
  ["current_mode_update", modeNotice],
  ["notice", agentNotice],
]);

export function translate(state: AcpState, frame: Frame): Report[] {
  const reports = translateFrame(state, frame);
  if (state.options.include_raw_events !== true) return reports;
  const raw =
    frame.kind === "answer" ? answerOf(frame.answer) : { method: frame.method, params: frame.params };
  return reports.map((report) =>
    report.kind === "event" ? { kind: "event", event: { ...report.event, raw } } : report,
  );
}

/** A prompt is about to be written. */
export function beginTurn(state: AcpState): Report[] {
  state.turn = { isCancelled: false, isDeclined: false, failure: undefined, isFailed: false, lastText: "" };
  state.texts.clear();
  return introduce(state);
}

/** We are about to ask the agent to stop: what it has asked is answered, what it will ask too. */
export function cancelTurn(state: AcpState): Report[] {
  if (state.turn !== undefined) state.turn.isCancelled = true;
  return withdrawAll(state, "the turn was interrupted", true);
}

/** No answer to the prompt will come (the agent is gone, or given up): all but the result. */
export function abandonTurn(state: AcpState, why: string): Report[] {
  const reports = [
    ...withdrawAll(state, why, false),
    ...toReports(closeTexts(state)),
    ...closeWork(state, why),
  ];
  state.turn = undefined;
  return reports;
}

function translateFrame(state: AcpState, frame: Frame): Report[] {
  if (frame.kind === "answer") return endTurn(state, frame.answer);
  if (frame.kind === "request") return toReportsOfRequest(state, frame);
  const { method, params } = frame;
  if (method === "$/cancel_request") return withdraw(state, params["requestId"]);
  if (method === "_demian/event") return demianEvent(state, method, params);
  if (method !== "session/update") return otherNotification(state, method, params);
  const update = objectOf(params["update"]);
  const kind = stringOf(update["sessionUpdate"]) ?? "";
  const content = CONTENT.get(kind);
  if (content !== undefined)
    return state.turn === undefined ? stray(state, kind, update) : content(state, update);
  return UPDATES.get(kind)?.(state, update) ?? unknownUpdate(state, kind, update);
}

/** The result is the last word of a turn. */
function endTurn(state: AcpState, answer: Answer): Report[] {
  const { turn } = state;
  // The answer to a prompt that was given up.
  if (turn === undefined) return [];
  // It is over on the other side: an answer to what is still open would be heard by nobody who waits.
  const withdrawn = withdrawAll(state, "the turn has ended", true);
  const why = turn.isCancelled ? "interrupted" : "the turn ended without a result of this tool";
  const said = closeTexts(state);
  const work = closeWork(state, why);
  const { before, result } = judge(state, turn, answer);
  const texts = result.subtype === "success" ? said.map(asFinalAnswer) : said;
  state.turn = undefined;
  return [...withdrawn, ...toReports(texts), ...work, ...before, { kind: "event", event: result }];
}

/** What a sub-agent does ends before it, and it before the call that started it. */
function closeWork(state: AcpState, why: string): Report[] {
  return closeTools(state, why).flatMap((event) => {
    const ended = event.type === "agent.tool_result" ? closeSubAgent(state, event.tool_use_id, why) : [];
    return [...ended, ...toReports([event])];
  });
}

/** Who calls a tool has said what there was to say; so has the sub-agent whose call ends. */
function toolUpdate(state: AcpState, update: JsonObject): Report[] {
  const id = textOf(update["toolCallId"]) ?? "";
  const parent = parentIn(state, update) ?? state.tools.get(id)?.parent;
  const reports = updateTool(state, update);
  const events = reports.flatMap((report) => (report.kind === "event" ? [report.event] : []));
  if (events.length === 0) return reports;
  const isOver = events.some(({ type }) => type === "agent.tool_result");
  const said = [...(isOver ? closeText(state, id) : []), ...closeText(state, parent)];
  const ended = isOver ? closeSubAgent(state, id, "the call that started it has ended") : [];
  return [...toReports(said), ...ended, ...reports];
}

/** Live, an agent says in the user's name only what it made up itself. */
function userChunk(state: AcpState, update: JsonObject): Report[] {
  const text = stringOf(objectOf(update["content"])["text"]);
  const data = text === undefined ? { native: update } : undefined;
  return [notice(state, "injected_message", { text, data })];
}

/** No turn runs: it belongs to one that is over, or to none. */
function stray(state: AcpState, kind: string, update: JsonObject): Report[] {
  if (kind === "tool_call" || kind === "tool_call_update") {
    const id = textOf(update["toolCallId"]) ?? "";
    if (state.doneTools.has(id) || state.tools.has(id)) return updateTool(state, update);
    const { sessionUpdate: _kind, ...data } = update;
    return [notice(state, "acp_unknown_tool_call", { data })];
  }
  const text = stringOf(objectOf(update["content"])["text"]);
  if (text === "") return [];
  const native = text === undefined ? { native: { content: update["content"] } } : {};
  return [notice(state, "late_text", { text, data: { kind, ...native } })];
}

function answerOf(answer: Answer): unknown {
  return "error" in answer ? { error: answer.error.message } : { result: answer.result };
}
