// `system/*` and `tool_progress` frames → notices. What other agents report too has their word for it (protocol/notices.ts),
// with the rest of the frame in `data.native`; any other frame keeps Claude's own name and shape.
import type { JsonObject } from "../../base/json.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { failureCode } from "../../protocol/failures.ts";
import { toNotice } from "../../protocol/notices.ts";
import { objectOf } from "../values.ts";
import { type ClaudeState, countOf, optional, stringOf } from "./state.ts";

type ToNotice = (state: ClaudeState, data: JsonObject) => NoticeEvent | undefined;

/** Undefined: it is not of the kind that others report too. */
const SHARED: ReadonlyMap<string, ToNotice> = new Map<string, ToNotice>([
  ["api_retry", modelRetry],
  ["compact_boundary", compacted],
  ["permission_denied", permissionDenied],
  ["model_refusal_no_fallback", refused],
  ["task_started", subAgentStarted],
  ["task_notification", subAgentFinished],
]);

const ENDS: ReadonlyMap<unknown, "error" | "interrupted"> = new Map([
  ["failed", "error"],
  ["stopped", "interrupted"],
  ["killed", "interrupted"],
] as const);
/** Only the newest sub-agents are remembered. */
const MAX_KNOWN = 500;

export function toSystemNotice(state: ClaudeState, frame: JsonObject): NoticeEvent {
  const { type: _type, subtype, ...data } = frame;
  const name = stringOf(subtype) ?? "unknown";
  return SHARED.get(name)?.(state, data) ?? toNotice("claude", `claude_system_${name}`, { data });
}

/** How long a tool has run. Claude does not say what it prints. */
export function toolProgress(frame: JsonObject): NoticeEvent {
  const { type: _type, tool_use_id, elapsed_time_seconds: elapsed, ...native } = frame;
  if (typeof tool_use_id !== "string") return toNotice("claude", "claude_unknown_tool_progress");
  const elapsed_ms = typeof elapsed === "number" && elapsed >= 0 ? Math.round(elapsed * 1000) : undefined;
  return toNotice("claude", "tool_progress", {
    data: { tool_use_id, ...optional("elapsed_ms", elapsed_ms), native },
  });
}

function modelRetry(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { attempt, max_retries, retry_delay_ms: delay, error_status, error, ...native } = data;
  const status = countOf(error_status);
  const wait = typeof delay === "number" && delay >= 0 ? Math.round(delay) : undefined;
  return toNotice("claude", "model_retry", {
    level: "warn",
    data: {
      code: failureCode({ names: [error], status }),
      ...optional("native_code", stringOf(error)),
      ...optional("http_status", status),
      ...optional("attempt", countOf(attempt)),
      ...optional("max_attempts", countOf(max_retries)),
      ...optional("retry_after_ms", wait),
      native,
    },
  });
}

function compacted(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { compact_metadata: told, ...rest } = data;
  const { trigger, pre_tokens, post_tokens, ...metadata } = objectOf(told);
  return toNotice("claude", "compacted", {
    data: {
      ...(trigger === "auto" || trigger === "manual" ? { trigger } : {}),
      ...optional("before_tokens", countOf(pre_tokens)),
      ...optional("after_tokens", countOf(post_tokens)),
      native: { ...rest, ...metadata },
    },
  });
}

function permissionDenied(_state: ClaudeState, data: JsonObject): NoticeEvent {
  const { tool_name, tool_use_id, message, ...native } = data;
  return toNotice("claude", "permission_denied", {
    data: {
      ...optional("tool_use_id", stringOf(tool_use_id)),
      ...optional("tool_name", stringOf(tool_name)),
      ...optional("reason", stringOf(message)),
      native,
    },
  });
}

function refused(_state: ClaudeState, { content, ...native }: JsonObject): NoticeEvent {
  const text = stringOf(content) || undefined;
  return toNotice("claude", "stop_reason", { text, data: { stop_reason: "refusal", native } });
}

/** A command in the background is a task too. */
function subAgentStarted({ agents }: ClaudeState, data: JsonObject): NoticeEvent | undefined {
  const { tool_use_id, subagent_type, description, ...native } = data;
  const id = stringOf(data["task_id"]);
  if (id === undefined || data["task_type"] !== "local_agent") return undefined;
  const agent = stringOf(subagent_type) ?? stringOf(description);
  agents.set(id, agent);
  const [oldest] = agents.keys();
  if (agents.size > MAX_KNOWN && oldest !== undefined) agents.delete(oldest);
  return toNotice("claude", "subagent_started", {
    data: {
      ...optional("tool_use_id", stringOf(tool_use_id)),
      ...optional("agent", agent),
      native: { ...native, ...optional("description", description) },
    },
  });
}

function subAgentFinished({ agents }: ClaudeState, data: JsonObject): NoticeEvent | undefined {
  const { tool_use_id, ...native } = data;
  const id = stringOf(data["task_id"]);
  if (id === undefined || !agents.has(id)) return undefined;
  const agent = agents.get(id);
  agents.delete(id);
  const { duration_ms } = objectOf(data["usage"]);
  return toNotice("claude", "subagent_finished", {
    data: {
      ...optional("tool_use_id", stringOf(tool_use_id)),
      ...optional("agent", agent),
      subtype: ENDS.get(data["status"]) ?? "success",
      ...optional("duration_ms", countOf(duration_ms)),
      native,
    },
  });
}
