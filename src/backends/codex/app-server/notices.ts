// Notifications that become an `agent.notice`, and those that become nothing. What nobody has heard of is a notice
// too: nothing is lost.
import type { JsonObject } from "../../../base/json.ts";
import type { AgentEvent, NoticeEvent } from "../../../protocol/events.ts";
import {
  type NoticeCategory,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../../protocol/notices.ts";
import {
  countOf,
  known,
  objectOf,
  objectsOf,
  optional,
  stringOf,
  textOf,
  withoutNulls,
} from "../../values.ts";
import type { CodexState, Notification, ThreadState } from "./state.ts";

type ToNotice = (state: CodexState, params: JsonObject, thread: ThreadState) => AgentEvent[];

/** Nothing in them for a person: state of the connection, or said better elsewhere. */
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
  ["account/rateLimits/updated", rateLimits],
  ["thread/name/updated", (_state, params) => [sessionInfo(params)]],
]);

export function toNotices(
  state: CodexState,
  thread: ThreadState,
  { method, params: value }: Notification,
): AgentEvent[] {
  if (SILENT.has(method)) return [];
  const params = objectOf(value);
  const translator = NOTICES.get(method);
  return translator === undefined ? [unknownNotice(method, params)] : translator(state, params, thread);
}

function unknownNotice(method: string, params: JsonObject): NoticeEvent {
  const category = `codex_notif_${method.replaceAll("/", "_")}` as const;
  return notice(category, withoutThread(params), textOf(params["message"]));
}

function warning(kind: string, params: JsonObject): NoticeEvent {
  const { message, summary, details, ...rest } = params;
  const parts = [message, summary, details].flatMap((part) => textOf(part) ?? []);
  const native = withoutThread(rest);
  const data = { kind, ...(Object.keys(native).length > 0 ? { native } : {}) };
  const event = notice("agent_notice", data, parts.length > 0 ? parts.join("\n") : undefined);
  return { ...event, level: "warn" };
}

function sessionInfo({ threadName }: JsonObject): NoticeEvent {
  return notice("session_info", optional("title", textOf(threadName)));
}

function turnDiff(_state: CodexState, params: JsonObject, thread: ThreadState): AgentEvent[] {
  const diff = stringOf(params["diff"]) ?? "";
  if (diff === thread.diff) return [];
  thread.diff = diff;
  return [notice("turn_diff", { diff })];
}

function plan(params: JsonObject): NoticeEvent {
  const steps = objectsOf(params["plan"]).map(({ step, status, ...rest }) => ({
    ...rest,
    step: stringOf(step) ?? "",
    ...optional("status", status === "inProgress" ? "in_progress" : textOf(status)),
  }));
  return notice("plan", { ...optional("explanation", textOf(params["explanation"])), plan: steps });
}

function mcpStartup(params: JsonObject): NoticeEvent {
  const { name, status, error, failureReason } = params;
  const data = {
    ...optional("server", textOf(name)),
    ...known("status", status),
    ...known("error", error),
    ...known("failure_reason", failureReason),
  };
  const event = notice("backend_mcp_startup", data, textOf(error));
  return status === "failed" ? { ...event, level: "warn" } : event;
}

/** Sent with every model call; passed on when it says something new. */
function rateLimits(state: CodexState, params: JsonObject): AgentEvent[] {
  const { primary, secondary, ...rest } = objectOf(params["rateLimits"]);
  const [limit, secondary_limit, vendor] = [limitOf(primary), limitOf(secondary), withoutNulls(rest)];
  const { limitId: _id, ...told } = vendor;
  const isEmpty = [limit, secondary_limit, told].every((part) => Object.keys(part).length === 0);
  const data = Object.fromEntries(
    Object.entries({ limit, secondary_limit, vendor }).filter(([, part]) => Object.keys(part).length > 0),
  );
  const text = JSON.stringify(data);
  if (isEmpty || text === state.lastRateLimits) return [];
  state.lastRateLimits = text;
  return [notice("rate_limits", data)];
}

function limitOf(value: unknown): JsonObject {
  const { resetsAt, usedPercent, windowDurationMins } = objectOf(value);
  return {
    ...optional("resets_at_ms", typeof resetsAt === "number" ? Math.round(resetsAt * 1000) : undefined),
    ...optional("used_percent", typeof usedPercent === "number" ? usedPercent : undefined),
    ...optional("window_minutes", countOf(windowDurationMins)),
  };
}

function notice<C extends NoticeCategory | UnknownCategory>(
  category: C,
  data: NoticeParts<C>["data"],
  text?: string,
): NoticeEvent {
  return toNotice("codex", category, { text, data });
}

/** The thread is the session's own, or stands in `parent_tool_use_id`. */
function withoutThread(params: JsonObject): JsonObject {
  const { threadId: _thread, ...rest } = params;
  return rest;
}
