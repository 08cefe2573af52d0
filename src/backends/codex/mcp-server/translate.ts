// One notification of `codex mcp-server` → reports (wire facts §4). Pure: changes only the state it is given, does
// no I/O, reads no clock, throws on nothing. Seen with 0.125; how a turn ends is result.ts.
import type { JsonObject } from "../../../base/json.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { countOf, objectOf, optional, stringOf } from "../../values.ts";
import { isAuthInfo } from "./auth.ts";
import { present, toMs } from "./fields.ts";
import { translateExec, translateItem } from "./items.ts";
import { endTurn } from "./result.ts";
import { isOfTurn, type McpState, type Report } from "./state.ts";
import { rateLimits, usageOf } from "./tokens.ts";

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

/** Left out: what other events say again, and what only a screen needs. */
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

export function translate(state: McpState, method: string, params: JsonObject): Report[] {
  if (!EVENT_METHODS.has(method)) {
    const notice: AgentEvent = toNotice("codex", `codex_notif_${method}`);
    return [{ kind: "event", event: state.includeRaw ? { ...notice, raw: { method, params } } : notice }];
  }
  const meta = objectOf(params["_meta"]);
  const msg = objectOf(params["msg"]);
  const type = stringOf(msg["type"]);
  // The rest of a turn that is over must not get into the next one.
  if (type === undefined || !isOfTurn(state, meta["requestId"])) return [];
  const reports: Report[] = followThread(state, meta, msg);
  const raw = state.includeRaw ? { raw: { ...msg, _meta: params["_meta"] } } : {};
  for (const event of translatorOf(type)(state, msg))
    reports.push({ kind: "event", event: { ...event, ...raw } });
  if (type === "turn_aborted") reports.push(...endTurn(state, { kind: "aborted" }));
  return reports;
}

/** Codex's own id of the conversation, the first time it is told. */
function followThread(state: McpState, meta: JsonObject, msg: JsonObject): Report[] {
  const configured = msg["type"] === "session_configured" ? stringOf(msg["session_id"]) : undefined;
  const id = stringOf(meta["threadId"]) ?? configured;
  if (id === undefined || id === state.threadId) return [];
  state.threadId = id;
  return [{ kind: "native_id", id }];
}

function translatorOf(type: string): Translate {
  const known = EVENTS.get(type);
  if (known !== undefined) return known;
  if (type.startsWith("exec_command_")) return translateExec;
  return () => [toNotice("codex", `codex_unknown_${type}`)];
}

function sessionConfigured(state: McpState, msg: JsonObject): AgentEvent[] {
  const capabilities = present(Object.fromEntries(CAPABILITIES.map((key) => [key, msg[key]])));
  return [
    {
      type: "agent.system_init",
      ...CODEX,
      ...optional("model", stringOf(msg["model"])),
      ...optional("cwd", stringOf(msg["cwd"])),
      ...optional("native_session_id", stringOf(msg["session_id"])),
      ...optional("context_window", state.contextWindow),
      capabilities,
    },
  ];
}

/**
 * Not the category `task_started`: the daemon says that itself for every backend, with the turn id that the result
 * carries. A second one with codex's own id would look like a second turn.
 */
function taskStarted(state: McpState, msg: JsonObject): AgentEvent[] {
  const context_window = countOf(msg["model_context_window"]);
  state.contextWindow = context_window ?? state.contextWindow;
  const native_turn_id = stringOf(msg["turn_id"]);
  if (native_turn_id !== undefined) state.held.native_turn_id = native_turn_id;
  const data = {
    ...optional("native_turn_id", native_turn_id),
    ...optional("context_window", context_window),
    ...optional("started_at_ms", toMs(msg["started_at"])),
  };
  return [toNotice("codex", "native_turn_started", { data })];
}

/** Adds to what is held: codex may complete and abort the same turn. */
function holdTask(state: McpState, msg: JsonObject): AgentEvent[] {
  Object.assign(state.held, {
    ...optional("native_turn_id", stringOf(msg["turn_id"])),
    ...optional("duration_ms", countOf(msg["duration_ms"])),
    ...optional("time_to_first_token_ms", countOf(msg["time_to_first_token_ms"])),
  });
  return [];
}

function tokenCount(state: McpState, msg: JsonObject): AgentEvent[] {
  const info = msg["info"];
  if (info === null || info === undefined) {
    return [toNotice("codex", "rate_limits", { data: rateLimits(msg["rate_limits"]) })];
  }
  const usage = usageOf(objectOf(info)["last_token_usage"]);
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
    data: present(Object.fromEntries(keys.map((key) => [key, msg[key]]))),
  });
}

function textDelta(_state: McpState, msg: JsonObject): AgentEvent[] {
  const text = stringOf(msg["delta"]);
  if (text === undefined) return [];
  return [
    {
      type: "agent.delta",
      ...CODEX,
      kind: "text",
      text,
      ...optional("item_id", stringOf(msg["item_id"])),
    },
  ];
}
