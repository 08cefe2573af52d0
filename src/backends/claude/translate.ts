// One native frame of claude's stdout → reports. Pure: changes only the state it is given, does no I/O,
// reads no clock, throws on nothing.
import type { JsonObject } from "../../base/json.ts";
import { toNotice } from "../../protocol/notices.ts";
import { followBackground } from "./background.ts";
import { translateAssistant, translateUser } from "./message-frames.ts";
import { toolProgress } from "./notices.ts";
import { withRaw } from "./raw.ts";
import { type ClaudeState, optional, type Report, stringOf, toReports } from "./state.ts";
import { translateStreamEvent } from "./stream-frames.ts";
import { translateRateLimit, translateSystem } from "./system-frames.ts";
import { endTurn, followTurn } from "./turns.ts";

type Translate = (state: ClaudeState, frame: JsonObject) => Report[];

const TRANSLATORS: ReadonlyMap<unknown, Translate> = new Map<unknown, Translate>([
  ["system", translateSystem],
  ["stream_event", (state, frame) => toReports(translateStreamEvent(state, frame))],
  ["assistant", (state, frame) => toReports(translateAssistant(state, frame))],
  ["user", (state, frame) => toReports(translateUser(state, frame))],
  ["rate_limit_event", (_state, frame) => toReports([translateRateLimit(frame)])],
  ["tool_progress", (_state, frame) => toReports([toolProgress(frame)])],
  ["partial_assistant", () => []],
]);

/** Bookkeeping between claude and us, never news for a client. */
const PLUMBING: ReadonlySet<unknown> = new Set([
  "control_request",
  "control_response",
  "control_cancel_request",
]);

export function translate(state: ClaudeState, frame: JsonObject): Report[] {
  const type = stringOf(frame["type"]);
  if (type === undefined || PLUMBING.has(type)) return [];
  const about = followTurn(state, frame);
  followBackground(state, frame);
  if (type === "system" && frame["subtype"] === "session_state_changed") return about;
  // May be held, and then goes out with the raw of its own frame: turns.ts sees to both.
  if (type === "result") return [...about, ...endTurn(state, frame)];
  const translator = TRANSLATORS.get(type) ?? unknownFrame;
  const own = translator(state, frame).map((report) => withParent(report, frame));
  return [...about, ...withRaw(state.options, frame, own)];
}

function unknownFrame(_state: ClaudeState, frame: JsonObject): Report[] {
  return toReports([toNotice("claude", `claude_unknown_${stringOf(frame["type"]) ?? ""}`)]);
}

/** Set on everything that a sub-agent does; `agent_id` since 2.1.325. */
function withParent(report: Report, frame: JsonObject): Report {
  const parent = stringOf(frame["parent_tool_use_id"]);
  if (parent === undefined || report.kind !== "event") return report;
  const agent = optional("agent_id", stringOf(frame["agent_id"]));
  return { kind: "event", event: { ...report.event, parent_tool_use_id: parent, ...agent } };
}
