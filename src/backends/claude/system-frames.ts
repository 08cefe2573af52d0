// `system/*` frames → agent.system_init and notices.

import type { JsonObject } from "../../base/json.ts";
import { asString, defined } from "../../base/values.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toSystemNotice } from "./notices.ts";
import type { ClaudeReport, ClaudeState } from "./state.ts";
import { toTranscriptPath } from "./transcript-path.ts";

const AUTH_ADVICE = "Run `claude auth` to re-authenticate.";

export function translateSystem(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const subtype = asString(frame["subtype"]);
  if (subtype === "init") return translateInit(state, frame);
  const notice: ClaudeReport = { kind: "event", event: toSystemNotice(state, frame) };
  const isAuth = frame["error"] === "authentication_failed" || frame["error_status"] === 401;
  // Claude retries for minutes (2.1.197: ten times); report the first failure.
  return subtype === "api_retry" && isAuth ? [notice, ...reportAuthFailure(state)] : [notice];
}

/** Once per turn. */
export function reportAuthFailure(state: ClaudeState): ClaudeReport[] {
  if (state.authReported) return [];
  state.authReported = true;
  return [{ kind: "auth_failed", message: AUTH_ADVICE }];
}

function translateInit(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const reports: ClaudeReport[] = [];
  const id = asString(frame["session_id"]);
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
  // A wrapper or an older claude may report less than the options.
  const cwd = asString(frame["cwd"]) ?? options.cwd;
  const tools: unknown = frame["tools"];
  const capabilities = defined({
    permission_mode: asString(frame["permissionMode"]) ?? options.permission_mode,
    reasoning_effort: options.effort,
    rollout_path: cwd === undefined ? undefined : toTranscriptPath(state.projects, cwd, state.nativeId),
  });
  return {
    type: "agent.system_init",
    backend: "claude",
    ...defined({
      model: asString(frame["model"]) ?? options.model,
      cwd,
      tools: Array.isArray(tools) ? tools.filter((tool) => typeof tool === "string") : undefined,
      native_session_id: state.nativeId === state.session_id ? undefined : state.nativeId,
    }),
    capabilities,
  };
}
