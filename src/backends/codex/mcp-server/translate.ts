// One notification of `codex mcp-server` → reports. Pure: changes only the given state, does no I/O, reads no clock,
// never throws. Seen with 0.125; result.ts ends a turn.

import { isObject, type JsonObject } from "../../../base/json.ts";
import {
  asCount,
  asNumber,
  asObject,
  asObjects,
  asString,
  defined,
  omitNulls,
} from "../../../base/values.ts";
import type { ContentBlock } from "../../../protocol/content.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { endTurn } from "./result.ts";
import { followThread, isOfTurn, type McpReport, type McpState } from "./state.ts";

type Translate = (state: McpState, msg: JsonObject) => AgentEvent[];

const CODEX = { backend: "codex" } as const;
const EVENT_METHODS: ReadonlySet<string> = new Set(["codex/event", "notifications/codex/event"]);
const CAPABILITIES = [
  "sandbox_policy",
  "approval_policy",
  "permission_profile",
  "reasoning_effort",
  "rollout_path",
];

/** Repeated by other events, or needed only by a UI. */
const IGNORED: ReadonlySet<string> = new Set([
  "agent_message",
  "agent_message_delta",
  "user_message",
  "item_started",
  "raw_response_item",
]);

const EVENTS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["session_configured", translateConfigured],
  ["task_started", translateTask],
  ["task_complete", holdTask],
  ["turn_aborted", holdTask],
  ["token_count", translateTokens],
  ["error", translateError],
  ["mcp_startup_update", translateStartup],
  ["mcp_startup_complete", translateStartupEnd],
  ["agent_message_content_delta", translateDelta],
  ["item_completed", translateItem],
  ["exec_command_begin", translateExecBegin],
  ["exec_command_output_delta", translateExecOutput],
  ["exec_command_end", translateExecEnd],
]);

export function translate(state: McpState, method: string, params: JsonObject): McpReport[] {
  if (!EVENT_METHODS.has(method)) {
    const notice: AgentEvent = toNotice("codex", `codex_notif_${method}`);
    return [{ kind: "event", event: state.includeRaw ? { ...notice, raw: { method, params } } : notice }];
  }
  const meta = asObject(params["_meta"]);
  const msg = asObject(params["msg"]);
  const type = asString(msg["type"]);
  // The rest of a finished turn must not get into the next one.
  if (type === undefined || !isOfTurn(state, meta["requestId"])) return [];
  const configured = type === "session_configured" ? asString(msg["session_id"]) : undefined;
  const reports = followThread(state, asString(meta["threadId"]) ?? configured);
  const raw = state.includeRaw ? { raw: { ...msg, _meta: params["_meta"] } } : {};
  const events = IGNORED.has(type) ? [] : (EVENTS.get(type) ?? noteOther)(state, msg);
  for (const event of events) reports.push({ kind: "event", event: { ...event, ...raw } });
  if (type === "turn_aborted") reports.push(...endTurn(state, { kind: "aborted" }));
  return reports;
}

function translateConfigured(state: McpState, msg: JsonObject): AgentEvent[] {
  const about = {
    model: asString(msg["model"]),
    cwd: asString(msg["cwd"]),
    native_session_id: asString(msg["session_id"]),
    context_window: state.contextWindow,
  };
  return [{ type: "agent.system_init", ...CODEX, ...defined(about), capabilities: pick(msg, CAPABILITIES) }];
}

/**
 * Not the category `task_started`: the daemon emits it for every backend, with the turn id of the result. A second one
 * with codex's own id would look like a second turn.
 */
function translateTask(state: McpState, msg: JsonObject): AgentEvent[] {
  const context_window = asCount(msg["model_context_window"]);
  state.contextWindow = context_window ?? state.contextWindow;
  holdTask(state, msg);
  const native_turn_id = asString(msg["turn_id"]);
  const data = defined({ native_turn_id, context_window, started_at_ms: toMs(msg["started_at"]) });
  return [toNotice("codex", "native_turn_started", { data })];
}

/** Adds to what is held: codex may complete and abort the same turn. */
function holdTask(state: McpState, msg: JsonObject): AgentEvent[] {
  const task = {
    native_turn_id: asString(msg["turn_id"]),
    duration_ms: asCount(msg["duration_ms"]),
    time_to_first_token_ms: asCount(msg["time_to_first_token_ms"]),
  };
  Object.assign(state.held, defined(task));
  return [];
}

/** The tokens of the turn, without their total, or account usage. */
function translateTokens(state: McpState, { info, rate_limits }: JsonObject): AgentEvent[] {
  if (info === null || info === undefined)
    return [toNotice("codex", "rate_limits", { data: readRateLimits(rate_limits) })];
  const { last_token_usage: counts } = asObject(info);
  if (!isObject(counts)) return [];
  state.held.usage = defined({
    input_tokens: asCount(counts["input_tokens"]),
    output_tokens: asCount(counts["output_tokens"]),
    cache_read_input_tokens: asCount(counts["cached_input_tokens"]),
    reasoning_output_tokens: asCount(counts["reasoning_output_tokens"]),
  });
  return [];
}

function readRateLimits(limits: unknown): JsonObject | undefined {
  if (!isObject(limits)) return undefined;
  const { primary, secondary, ...rest } = limits;
  const vendor = Object.keys(rest).length === 0 ? undefined : rest;
  return defined({ limit: readLimit(primary), secondary_limit: readLimit(secondary), vendor });
}

function readLimit(limit: unknown): JsonObject | undefined {
  if (!isObject(limit)) return undefined;
  const { resets_at, used_percent, window_minutes } = limit;
  return omitNulls({ resets_at_ms: toMs(resets_at), used_percent, window_minutes });
}

/** `codex_error_info`: "unauthorized", or the HTTP status inside one of its kinds. */
function translateError(state: McpState, { codex_error_info: info }: JsonObject): AgentEvent[] {
  const statuses = Object.values(asObject(info)).map((kind) => asObject(kind)["http_status_code"]);
  if (info === "unauthorized" || statuses.includes(401) || statuses.includes(403)) state.held.isAuth = true;
  return [toNotice("codex", "codex_unknown_error")];
}

function translateStartup(_state: McpState, msg: JsonObject): AgentEvent[] {
  return [toNotice("codex", "backend_mcp_startup", { data: pick(msg, ["server", "status"]) })];
}

function translateStartupEnd(_state: McpState, msg: JsonObject): AgentEvent[] {
  const data = pick(msg, ["ready", "failed", "cancelled"]);
  return [toNotice("codex", "backend_mcp_startup_complete", { data })];
}

function translateDelta(_state: McpState, msg: JsonObject): AgentEvent[] {
  const text = asString(msg["delta"]);
  const item = defined({ item_id: asString(msg["item_id"]) });
  return text === undefined ? [] : [{ type: "agent.delta", ...CODEX, kind: "text", text, ...item }];
}

/** Codex's reasoning is encrypted and not shown. */
function translateItem(state: McpState, msg: JsonObject): AgentEvent[] {
  const { type, content: blocks, phase } = asObject(msg["item"]);
  const content = asObjects(blocks).flatMap(readBlock);
  if (type === "AgentMessage") {
    const named = defined({ phase: asString(phase) });
    return [{ type: "agent.message", ...CODEX, role: "assistant", content, ...named }];
  }
  const isEcho = type === "UserMessage" && state.userEcho;
  return isEcho ? [{ type: "agent.user_echo", ...CODEX, message: { role: "user", content } }] : [];
}

/** Codex writes `Text` where the wire has `text`; other blocks are passed unchanged. */
function readBlock(block: JsonObject): ContentBlock[] {
  const type = asString(block["type"]);
  if (type === undefined) return [];
  return [
    type.toLowerCase() === "text"
      ? { type: "text", text: asString(block["text"]) ?? "" }
      : { ...block, type },
  ];
}

function translateExecBegin(state: McpState, msg: JsonObject): AgentEvent[] {
  const { call_id, tool, command, params } = msg;
  if (typeof call_id !== "string") return noteOther(state, msg);
  const call = { tool_use_id: call_id, name: asString(tool) ?? "shell", input: command ?? params ?? {} };
  return [{ type: "agent.tool_use", ...CODEX, ...call }];
}

/** A chunk of output, base64. */
function translateExecOutput(state: McpState, msg: JsonObject): AgentEvent[] {
  const text = Buffer.from(asString(msg["chunk"]) ?? "", "base64").toString("utf8");
  const tool_use_id = asString(msg["call_id"]);
  if (tool_use_id === undefined || text === "") return noteOther(state, msg);
  return [toNotice("codex", "tool_output", { data: { tool_use_id, text } })];
}

/** The name of the output differs between versions. */
function translateExecEnd(state: McpState, msg: JsonObject): AgentEvent[] {
  const { call_id, output, aggregated_output, formatted_output, stdout, is_error, exit_code } = msg;
  if (typeof call_id !== "string") return noteOther(state, msg);
  const found = [output, aggregated_output, formatted_output, stdout].find((text) => text !== undefined);
  const failed =
    typeof is_error === "boolean" ? is_error : typeof exit_code === "number" ? exit_code !== 0 : undefined;
  const result = defined({ output: found, is_error: failed });
  return [{ type: "agent.tool_result", ...CODEX, tool_use_id: call_id, ...result }];
}

/** Commands without an id too. */
function noteOther(_state: McpState, msg: JsonObject): AgentEvent[] {
  const type = String(msg["type"]);
  const isExec = type.startsWith("exec_command_");
  return [toNotice("codex", isExec ? `codex_exec_command_${type.slice(13)}` : `codex_unknown_${type}`)];
}

function pick(msg: JsonObject, keys: readonly string[]): JsonObject {
  return omitNulls(Object.fromEntries(keys.map((key) => [key, msg[key]])));
}

/** Codex counts in seconds, the wire in milliseconds. */
function toMs(seconds: unknown): number | undefined {
  const known = asNumber(seconds);
  return known === undefined ? undefined : Math.round(known * 1000);
}
