// What Codex reports about a thread → agent.system_init, repeated only when it changed.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asString, defined, omitNulls } from "../../../base/values.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { CodexReport, CodexState } from "./state.ts";

/** Merges new facts, and emits agent.system_init again if they change it. */
export function introduce(state: CodexState, news: JsonObject): CodexReport[] {
  state.intro = { ...state.intro, ...news };
  if (state.intro["threadId"] === undefined) return [];
  const event = toSystemInit(state);
  const text = JSON.stringify(event);
  if (text === state.lastInit) return [];
  state.lastInit = text;
  return [{ kind: "event", event }];
}

/** Known later than the rest; emitted with the next turn. */
export function noteContextWindow(state: CodexState, tokenUsage: unknown): void {
  const size = asCount(asObject(tokenUsage)["modelContextWindow"]);
  if (size !== undefined) state.intro = { ...state.intro, contextWindow: size };
}

/** The result of thread/start and thread/resume. */
export function readStarted(state: CodexState, result: unknown): JsonObject {
  const { thread: value, sandbox, ...rest } = asObject(result);
  const thread = asObject(value);
  return {
    ...pick(rest, INTRO_KEYS),
    ...omitNulls({ sandbox, path: thread["path"] }),
    threadId: asString(thread["id"]) ?? state.threadId,
  };
}

/** `thread/settings/updated` */
export function readSettings(params: JsonObject): JsonObject {
  const { sandboxPolicy, effort, ...rest } = asObject(params["threadSettings"]);
  return {
    ...pick(rest, INTRO_KEYS),
    ...omitNulls({ sandbox: sandboxPolicy }),
    ...defined({ reasoningEffort: effort }),
  };
}

const INTRO_KEYS = [
  "model",
  "cwd",
  "modelProvider",
  "approvalPolicy",
  "activePermissionProfile",
  "reasoningEffort",
] as const;

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}

function toSystemInit(state: CodexState): AgentEvent {
  const { intro } = state;
  const capabilities = {
    ...omitNulls({
      sandbox_policy: intro["sandbox"],
      approval_policy: intro["approvalPolicy"],
      permission_profile: readProfile(intro["activePermissionProfile"]),
      reasoning_effort: intro["reasoningEffort"],
      rollout_path: intro["path"],
      model_provider: intro["modelProvider"],
    }),
  };
  return {
    type: "agent.system_init",
    backend: "codex",
    ...defined({
      model: asString(intro["model"]),
      cwd: asString(intro["cwd"]) ?? state.options.cwd,
      native_session_id: asString(intro["threadId"]),
      context_window: asCount(intro["contextWindow"]),
    }),
    capabilities,
  };
}

/** Its name is enough: the sandbox policy has the details. */
function readProfile(profile: unknown): unknown {
  return isObject(profile) ? (profile["id"] ?? profile) : profile;
}
