// One notification of `codex mcp-server` → reports. Pure: changes only the given state, does no I/O, reads no clock,
// never throws. Seen with 0.125; result.ts ends a turn.

import type { JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asString, defined, omitNulls } from "../../../base/values.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { isAuthInfo } from "./auth.ts";
import { toMs } from "./fields.ts";
import { translateExec, translateItem } from "./items.ts";
import { endTurn } from "./result.ts";
import { isOfTurn, type McpReport, type McpState } from "./state.ts";
import { rateLimits, readUsage } from "./tokens.ts";

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

const nothing: Translate = () => [];

/** Ignored: repeated by other events, or needed only by a UI. */
const EVENTS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["session_configured", sessionConfigured],
  ["task_started", taskStarted],
  ["task_complete", holdTask],
  ["turn_aborted", holdTask],
  ["token_count", tokenCount],
  ["error", noteError],
  ["mcp_startup_update", (_state, msg) => [startup("backend_mcp_startup", msg, ["server", "status"])]],
  [
    "mcp_startup_complete",
    (_state, msg) => [startup("backend_mcp_startup_complete", msg, ["ready", "failed", "cancelled"])],
  ],
  ["agent_message_content_delta", textDelta],
  ["item_completed", translateItem],
  ["agent_message_delta", nothing],
  ["agent_message", nothing],
  ["user_message", nothing],
  ["item_started", nothing],
  ["raw_response_item", nothing],
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
  const reports: McpReport[] = followThread(state, meta, msg);
  const raw = state.includeRaw ? { raw: { ...msg, _meta: params["_meta"] } } : {};
  for (const event of findTranslator(type)(state, msg))
    reports.push({ kind: "event", event: { ...event, ...raw } });
  if (type === "turn_aborted") reports.push(...endTurn(state, { kind: "aborted" }));
  return reports;
}

/** Codex's own conversation id, the first time it appears. */
function followThread(state: McpState, meta: JsonObject, msg: JsonObject): McpReport[] {
  const configured = msg["type"] === "session_configured" ? asString(msg["session_id"]) : undefined;
  const id = asString(meta["threadId"]) ?? configured;
  if (id === undefined || id === state.threadId) return [];
  state.threadId = id;
  return [{ kind: "native_id", id }];
}

function findTranslator(type: string): Translate {
  const known = EVENTS.get(type);
  if (known !== undefined) return known;
  if (type.startsWith("exec_command_")) return translateExec;
  return () => [toNotice("codex", `codex_unknown_${type}`)];
}

function sessionConfigured(state: McpState, msg: JsonObject): AgentEvent[] {
  const capabilities = omitNulls(Object.fromEntries(CAPABILITIES.map((key) => [key, msg[key]])));
  return [
    {
      type: "agent.system_init",
      ...CODEX,
      ...defined({
        model: asString(msg["model"]),
        cwd: asString(msg["cwd"]),
        native_session_id: asString(msg["session_id"]),
        context_window: state.contextWindow,
      }),
      capabilities,
    },
  ];
}

/**
 * Not the category `task_started`: the daemon emits it for every backend, with the turn id of the result. A second one
 * with codex's own id would look like a second turn.
 */
function taskStarted(state: McpState, msg: JsonObject): AgentEvent[] {
  const context_window = asCount(msg["model_context_window"]);
  state.contextWindow = context_window ?? state.contextWindow;
  const native_turn_id = asString(msg["turn_id"]);
  if (native_turn_id !== undefined) state.held.native_turn_id = native_turn_id;
  const data = defined({ native_turn_id, context_window, started_at_ms: toMs(msg["started_at"]) });
  return [toNotice("codex", "native_turn_started", { data })];
}

/** Adds to what is held: codex may complete and abort the same turn. */
function holdTask(state: McpState, msg: JsonObject): AgentEvent[] {
  Object.assign(
    state.held,
    defined({
      native_turn_id: asString(msg["turn_id"]),
      duration_ms: asCount(msg["duration_ms"]),
      time_to_first_token_ms: asCount(msg["time_to_first_token_ms"]),
    }),
  );
  return [];
}

function tokenCount(state: McpState, msg: JsonObject): AgentEvent[] {
  const info = msg["info"];
  if (info === null || info === undefined) {
    return [toNotice("codex", "rate_limits", { data: rateLimits(msg["rate_limits"]) })];
  }
  const usage = readUsage(asObject(info)["last_token_usage"]);
  if (usage !== undefined) state.held.usage = usage;
  return [];
}

function noteError(state: McpState, msg: JsonObject): AgentEvent[] {
  if (isAuthInfo(msg["codex_error_info"])) state.held.isAuth = true;
  return [toNotice("codex", "codex_unknown_error")];
}

function startup(
  category: "backend_mcp_startup" | "backend_mcp_startup_complete",
  msg: JsonObject,
  keys: readonly string[],
): AgentEvent {
  return toNotice("codex", category, {
    data: omitNulls(Object.fromEntries(keys.map((key) => [key, msg[key]]))),
  });
}

function textDelta(_state: McpState, msg: JsonObject): AgentEvent[] {
  const text = asString(msg["delta"]);
  if (text === undefined) return [];
  return [
    {
      type: "agent.delta",
      ...CODEX,
      kind: "text",
      text,
      ...defined({ item_id: asString(msg["item_id"]) }),
    },
  ];
}
