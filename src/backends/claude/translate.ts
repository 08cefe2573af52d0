// Translates one native frame of claude's stdout into reports. Changes only the given state; never throws.

import type { JsonObject } from "../../base/json.ts";
import { asString, defined } from "../../base/values.ts";
import { toNotice } from "../../protocol/notices.ts";
import { followBackground } from "./background.ts";
import { translateRateLimit } from "./limits.ts";
import { translateAssistant, translateUser } from "./message-frames.ts";
import { noteUsage } from "./model-calls.ts";
import { toToolProgress } from "./notices.ts";
import { withRaw } from "./raw.ts";
import { type ClaudeReport, type ClaudeState, toReports } from "./state.ts";
import { noteLifecycle } from "./steers.ts";
import { translateStreamEvent } from "./stream-frames.ts";
import { translateSystem } from "./system-frames.ts";
import { endTurn, followTurn } from "./turns.ts";

type Translate = (state: ClaudeState, frame: JsonObject) => ClaudeReport[];

const TRANSLATORS: ReadonlyMap<unknown, Translate> = new Map<unknown, Translate>([
  ["system", translateSystem],
  ["stream_event", (state, frame) => toReports(translateStreamEvent(state, frame))],
  ["assistant", (state, frame) => toReports(translateAssistant(state, frame))],
  ["user", (state, frame) => toReports(translateUser(state, frame))],
  ["rate_limit_event", (_state, frame) => toReports([translateRateLimit(frame)])],
  ["tool_progress", (_state, frame) => toReports([toToolProgress(frame)])],
  ["partial_assistant", () => []],
]);

/** Bookkeeping between claude and us, never shown to clients. */
const PLUMBING: ReadonlySet<unknown> = new Set([
  "control_request",
  "control_response",
  "control_cancel_request",
]);

export function translate(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const type = asString(frame["type"]);
  if (type === undefined || PLUMBING.has(type)) return [];
  const about = followTurn(state, frame);
  followBackground(state, frame);
  if (type === "system" && frame["subtype"] === "session_state_changed") return about;
  if (type === "command_lifecycle") return [...about, ...noteLifecycle(state, frame)];
  // turns.ts may hold it, and adds the raw frame itself.
  if (type === "result") return [...about, ...endTurn(state, frame)];
  const translator = TRANSLATORS.get(type) ?? toUnknownNotice;
  const own = translator(state, frame).map((report) => withParent(report, frame));
  return [...about, ...withRaw(state.options, frame, own), ...noteUsage(state, frame)];
}

function toUnknownNotice(_state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  return toReports([toNotice("claude", `claude_unknown_${asString(frame["type"]) ?? ""}`)]);
}

/** Marks everything that a sub-agent does; `agent_id` since 2.1.325. */
function withParent(report: ClaudeReport, frame: JsonObject): ClaudeReport {
  const parent = asString(frame["parent_tool_use_id"]);
  if (parent === undefined || report.kind !== "event") return report;
  const agent = defined({ agent_id: asString(frame["agent_id"]) });
  return { kind: "event", event: { ...report.event, parent_tool_use_id: parent, ...agent } };
}
