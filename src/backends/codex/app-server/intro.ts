// What Codex says about a thread → agent.system_init, again only when something in it changed.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { countOf, known, objectOf, optional, stringOf } from "../../values.ts";
import type { CodexState, Report } from "./state.ts";

/** Takes over what is new, and introduces the thread anew if that changes anything. */
export function introduce(state: CodexState, news: JsonObject): Report[] {
  state.intro = { ...state.intro, ...news };
  if (state.intro["threadId"] === undefined) return [];
  const event = toSystemInit(state);
  const text = JSON.stringify(event);
  if (text === state.lastInit) return [];
  state.lastInit = text;
  return [{ kind: "event", event }];
}

/** Known later than the rest; told with the next turn. */
export function noteContextWindow(state: CodexState, tokenUsage: unknown): void {
  const size = countOf(objectOf(tokenUsage)["modelContextWindow"]);
  if (size !== undefined) state.intro = { ...state.intro, contextWindow: size };
}

/** The result of thread/start and thread/resume. */
export function readStarted(state: CodexState, result: unknown): JsonObject {
  const { thread: value, sandbox, ...rest } = objectOf(result);
  const thread = objectOf(value);
  return {
    ...pick(rest, INTRO_KEYS),
    ...known("sandbox", sandbox),
    ...known("path", thread["path"]),
    threadId: stringOf(thread["id"]) ?? state.threadId,
  };
}

/** `thread/settings/updated` */
export function readSettings(params: JsonObject): JsonObject {
  const { sandboxPolicy, effort, ...rest } = objectOf(params["threadSettings"]);
  return {
    ...pick(rest, INTRO_KEYS),
    ...known("sandbox", sandboxPolicy),
    ...optional("reasoningEffort", effort),
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
    ...known("sandbox_policy", intro["sandbox"]),
    ...known("approval_policy", intro["approvalPolicy"]),
    ...known("permission_profile", profileOf(intro["activePermissionProfile"])),
    ...known("reasoning_effort", intro["reasoningEffort"]),
    ...known("rollout_path", intro["path"]),
    ...known("model_provider", intro["modelProvider"]),
  };
  return {
    type: "agent.system_init",
    backend: "codex",
    ...optional("model", stringOf(intro["model"])),
    ...optional("cwd", stringOf(intro["cwd"]) ?? state.options.cwd),
    ...optional("native_session_id", stringOf(intro["threadId"])),
    ...optional("context_window", countOf(intro["contextWindow"])),
    capabilities,
  };
}

/** Its name is enough: what it allows is in the sandbox policy. */
function profileOf(profile: unknown): unknown {
  return isObject(profile) ? (profile["id"] ?? profile) : profile;
}
