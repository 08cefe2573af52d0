// `system/*` and `tool_progress` frames → notices. Those that other agents have too get a common category
// (protocol/notices.ts), with the rest of the frame in `data.native`; any other keeps Claude's own name and shape.

import type { JsonObject } from "../../base/json.ts";
import { asCount, asObject, asString, defined } from "../../base/values.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { toFailureCode } from "../../protocol/failures.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { ClaudeState } from "./state.ts";

type ToNotice = (state: ClaudeState, data: JsonObject) => NoticeEvent | undefined;

/** Undefined if the frame has no common category after all. */
const SHARED: ReadonlyMap<string, ToNotice> = new Map<string, ToNotice>([
  ["api_retry", toModelRetry],
  ["compact_boundary", toCompacted],
  ["permission_denied", toPermissionDenied],
  ["model_refusal_no_fallback", toRefusal],
  ["task_started", toSubAgentStarted],
  ["task_notification", toSubAgentFinished],
]);

const ENDS: ReadonlyMap<unknown, "error" | "interrupted"> = new Map([
  ["failed", "error"],
  ["stopped", "interrupted"],
  ["killed", "interrupted"],
] as const);
/** Older sub-agents are forgotten. */
const MAX_KNOWN = 500;

export function toSystemNotice(state: ClaudeState, frame: JsonObject): NoticeEvent {
  const { type: _type, subtype, ...data } = frame;
  const name = asString(subtype) ?? "unknown";
  return SHARED.get(name)?.(state, data) ?? toNotice("claude", `claude_system_${name}`, { data });
}

/** How long a tool has run. Claude does not report its output. */
export function toToolProgress(frame: JsonObject): NoticeEvent {
  const { type: _type, tool_use_id, elapsed_time_seconds: elapsed, ...native } = frame;
  if (typeof tool_use_id !== "string") return toNotice("claude", "claude_unknown_tool_progress");
  const elapsed_ms = typeof elapsed === "number" && elapsed >= 0 ? Math.round(elapsed * 1000) : undefined;
  return toNotice("claude", "tool_progress", {
    data: { tool_use_id, ...defined({ elapsed_ms }), native },
  });
}

function toModelRetry(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { attempt, max_retries, retry_delay_ms: delay, error_status, error, ...native } = data;
  const status = asCount(error_status);
  const wait = typeof delay === "number" && delay >= 0 ? Math.round(delay) : undefined;
  return toNotice("claude", "model_retry", {
    level: "warn",
    data: {
      code: toFailureCode({ names: [error], status }),
      ...defined({
        native_code: asString(error),
        http_status: status,
        attempt: asCount(attempt),
        max_attempts: asCount(max_retries),
        retry_after_ms: wait,
      }),
      native,
    },
  });
}

function toCompacted(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { compact_metadata, ...rest } = data;
  const { trigger, pre_tokens, post_tokens, ...metadata } = asObject(compact_metadata);
  return toNotice("claude", "compacted", {
    data: {
      ...(trigger === "auto" || trigger === "manual" ? { trigger } : {}),
      ...defined({ before_tokens: asCount(pre_tokens), after_tokens: asCount(post_tokens) }),
      native: { ...rest, ...metadata },
    },
  });
}

function toPermissionDenied(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { tool_name, tool_use_id, message, ...native } = data;
  return toNotice("claude", "permission_denied", {
    data: {
      ...defined({
        tool_use_id: asString(tool_use_id),
        tool_name: asString(tool_name),
        reason: asString(message),
      }),
      native,
    },
  });
}

function toRefusal(_state: ClaudeState, { content, ...native }: JsonObject): NoticeEvent {
  const text = asString(content) || undefined;
  return toNotice("claude", "stop_reason", { text, data: { stop_reason: "refusal", native } });
}

/** Background commands are tasks too. */
function toSubAgentStarted({ agents }: ClaudeState, data: JsonObject): NoticeEvent | undefined {
  const { tool_use_id, subagent_type, description, ...native } = data;
  const id = asString(data["task_id"]);
  if (id === undefined || data["task_type"] !== "local_agent") return undefined;
  const agent = asString(subagent_type) ?? asString(description);
  agents.set(id, agent);
  const [oldest] = agents.keys();
  if (agents.size > MAX_KNOWN && oldest !== undefined) agents.delete(oldest);
  return toNotice("claude", "subagent_started", {
    data: {
      ...defined({ tool_use_id: asString(tool_use_id), agent }),
      native: { ...native, ...defined({ description }) },
    },
  });
}

function toSubAgentFinished({ agents }: ClaudeState, data: JsonObject): NoticeEvent | undefined {
  const { tool_use_id, ...native } = data;
  const id = asString(data["task_id"]);
  if (id === undefined || !agents.has(id)) return undefined;
  const agent = agents.get(id);
  agents.delete(id);
  const { duration_ms } = asObject(data["usage"]);
  return toNotice("claude", "subagent_finished", {
    data: {
      ...defined({ tool_use_id: asString(tool_use_id), agent }),
      subtype: ENDS.get(data["status"]) ?? "success",
      ...defined({ duration_ms: asCount(duration_ms) }),
      native,
    },
  });
}
