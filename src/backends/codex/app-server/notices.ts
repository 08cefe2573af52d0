// Notifications that become an `agent.notice`, and those that are ignored. Unknown ones become a notice too.

import type { JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asObjects, asString, asText, defined, omitNulls } from "../../../base/values.ts";
import type { AgentEvent, NoticeEvent } from "../../../protocol/events.ts";
import {
  type NoticeCategory,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../../protocol/notices.ts";
import type { CodexState, Notification, ThreadState } from "./state.ts";

type ToNotice = (state: CodexState, params: JsonObject, thread: ThreadState) => AgentEvent[];

/** Nothing for users: connection state, or reported elsewhere. */
const SILENT: ReadonlySet<string> = new Set([
  "thread/status/changed",
  "thread/readState/changed",
  "thread/goal/cleared",
  "thread/queue/changed",
  "thread/compacted",
  "remoteControl/status/changed",
  "item/reasoning/summaryPartAdded",
  "rawResponseItem/completed",
  "rawResponse/completed",
  "skills/changed",
  "app/list/updated",
  "project/changed",
  "fs/changed",
  "command/exec/outputDelta",
  "process/outputDelta",
  "process/exited",
  "fuzzyFileSearch/sessionUpdated",
  "fuzzyFileSearch/sessionCompleted",
]);

const NOTICES: ReadonlyMap<string, ToNotice> = new Map<string, ToNotice>([
  ["warning", (_state, params) => [warning("warning", params)]],
  ["guardianWarning", (_state, params) => [warning("guardian_warning", params)]],
  ["configWarning", (_state, params) => [warning("config_warning", params)]],
  ["deprecationNotice", (_state, params) => [{ ...warning("deprecation", params), level: "info" }]],
  ["turn/diff/updated", turnDiff],
  ["turn/plan/updated", (_state, params) => [plan(params)]],
  ["mcpServer/startupStatus/updated", (_state, params) => [mcpStartup(params)]],
  ["account/rateLimits/updated", translateLimits],
  ["thread/name/updated", (_state, params) => [sessionInfo(params)]],
]);

export function toNotices(
  state: CodexState,
  thread: ThreadState,
  { method, params: value }: Notification,
): AgentEvent[] {
  if (SILENT.has(method)) return [];
  const params = asObject(value);
  const translator = NOTICES.get(method);
  return translator === undefined ? [unknownNotice(method, params)] : translator(state, params, thread);
}

function unknownNotice(method: string, params: JsonObject): NoticeEvent {
  const category = `codex_notif_${method.replaceAll("/", "_")}` as const;
  return notice(category, withoutThread(params), asText(params["message"]));
}

function warning(kind: string, params: JsonObject): NoticeEvent {
  const { message, summary, details, ...rest } = params;
  const parts = [message, summary, details].flatMap((part) => asText(part) ?? []);
  const native = withoutThread(rest);
  const data = { kind, ...(Object.keys(native).length > 0 ? { native } : {}) };
  const event = notice("agent_notice", data, parts.length > 0 ? parts.join("\n") : undefined);
  return { ...event, level: "warn" };
}

function sessionInfo({ threadName }: JsonObject): NoticeEvent {
  return notice("session_info", defined({ title: asText(threadName) }));
}

function turnDiff(_state: CodexState, params: JsonObject, thread: ThreadState): AgentEvent[] {
  const diff = asString(params["diff"]) ?? "";
  if (diff === thread.diff) return [];
  thread.diff = diff;
  return [notice("turn_diff", { diff })];
}

function plan(params: JsonObject): NoticeEvent {
  const steps = asObjects(params["plan"]).map(({ step, status, ...rest }) => ({
    ...rest,
    step: asString(step) ?? "",
    ...defined({ status: status === "inProgress" ? "in_progress" : asText(status) }),
  }));
  return notice("plan", { ...defined({ explanation: asText(params["explanation"]) }), plan: steps });
}

function mcpStartup(params: JsonObject): NoticeEvent {
  const { name, status, error, failureReason } = params;
  const data = {
    ...defined({ server: asText(name) }),
    ...omitNulls({ status, error, failure_reason: failureReason }),
  };
  const event = notice("backend_mcp_startup", data, asText(error));
  return status === "failed" ? { ...event, level: "warn" } : event;
}

/** Sent with every model call, and when asked for; passed on when it changes. */
export function translateLimits(state: CodexState, params: JsonObject): AgentEvent[] {
  const { primary, secondary, ...rest } = asObject(params["rateLimits"]);
  const [limit, secondary_limit, vendor] = [readLimit(primary), readLimit(secondary), omitNulls(rest)];
  const { limitId: _id, ...reported } = vendor;
  const isEmpty = [limit, secondary_limit, reported].every((part) => Object.keys(part).length === 0);
  const data = Object.fromEntries(
    Object.entries({ limit, secondary_limit, vendor }).filter(([, part]) => Object.keys(part).length > 0),
  );
  const text = JSON.stringify(data);
  if (isEmpty || text === state.lastRateLimits) return [];
  state.lastRateLimits = text;
  return [notice("rate_limits", data)];
}

function readLimit(value: unknown): JsonObject {
  const { resetsAt, usedPercent, windowDurationMins } = asObject(value);
  return defined({
    resets_at_ms: typeof resetsAt === "number" ? Math.round(resetsAt * 1000) : undefined,
    used_percent: typeof usedPercent === "number" ? usedPercent : undefined,
    window_minutes: asCount(windowDurationMins),
  });
}

function notice<C extends NoticeCategory | UnknownCategory>(
  category: C,
  data: NoticeParts<C>["data"],
  text?: string,
): NoticeEvent {
  return toNotice("codex", category, { text, data });
}

/** The thread is the session's own, or given by `parent_tool_use_id`. */
function withoutThread(params: JsonObject): JsonObject {
  const { threadId: _thread, ...rest } = params;
  return rest;
}
