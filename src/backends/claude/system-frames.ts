// `system/*` and `rate_limit_event` frames → agent.system_init and notices.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import { toSystemNotice } from "./notices.ts";
import { type ClaudeState, optional, type Report, stringOf } from "./state.ts";
import { transcriptPath } from "./transcript-path.ts";

const AUTH_ADVICE = "Run `claude auth` to re-authenticate.";

export function translateSystem(state: ClaudeState, frame: JsonObject): Report[] {
  const subtype = stringOf(frame["subtype"]);
  if (subtype === "init") return translateInit(state, frame);
  const notice: Report = { kind: "event", event: toSystemNotice(state, frame) };
  const isAuth = frame["error"] === "authentication_failed" || frame["error_status"] === 401;
  // Claude goes on trying for minutes (2.1.197: ten times); people should know after the first.
  return subtype === "api_retry" && isAuth ? [notice, ...authFailed(state)] : [notice];
}

/** Once a turn. */
export function authFailed(state: ClaudeState): Report[] {
  if (state.authTold) return [];
  state.authTold = true;
  return [{ kind: "auth_failed", message: AUTH_ADVICE }];
}

export function translateRateLimit(frame: JsonObject): AgentEvent {
  const { type: _type, rate_limit_info: info, ...rest } = frame;
  const { resetsAt, status, ...vendor } = isObject(info) ? info : {};
  const limit = {
    ...optional("resets_at_ms", typeof resetsAt === "number" ? Math.round(resetsAt * 1000) : undefined),
    ...optional("status", stringOf(status)),
  };
  const others = { ...vendor, ...rest };
  const data = {
    ...(Object.keys(limit).length > 0 ? { limit } : {}),
    ...(Object.keys(others).length > 0 ? { vendor: others } : {}),
  };
  return toNotice("claude", "rate_limits", { data });
}

function translateInit(state: ClaudeState, frame: JsonObject): Report[] {
  const reports: Report[] = [];
  const id = stringOf(frame["session_id"]);
  if (id !== undefined && id !== state.nativeId) {
    state.nativeId = id;
    reports.push({ kind: "native_id", id });
  }
  const event = toSystemInit(state, frame);
  const text = JSON.stringify(event);
  if (text !== state.lastInit) reports.push({ kind: "event", event });
  state.lastInit = text;
  return reports;
}

function toSystemInit(state: ClaudeState, frame: JsonObject): AgentEvent {
  const { options } = state;
  // A wrapper or an older claude may say less than it was started with.
  const cwd = stringOf(frame["cwd"]) ?? options.cwd;
  const tools: unknown = frame["tools"];
  const capabilities = {
    ...optional("permission_mode", stringOf(frame["permissionMode"]) ?? options.permission_mode),
    ...optional("reasoning_effort", options.effort),
    ...optional(
      "rollout_path",
      cwd === undefined ? undefined : transcriptPath(state.projects, cwd, state.nativeId),
    ),
  };
  return {
    type: "agent.system_init",
    backend: "claude",
    ...optional("model", stringOf(frame["model"]) ?? options.model),
    ...optional("cwd", cwd),
    ...optional("tools", Array.isArray(tools) ? tools.filter((tool) => typeof tool === "string") : undefined),
    ...optional("native_session_id", state.nativeId === state.session_id ? undefined : state.nativeId),
    capabilities,
  };
}
