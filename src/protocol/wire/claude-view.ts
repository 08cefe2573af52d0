// Converts an agent.* frame to a Claude Code event for blemees/1 clients. With `raw`, it is the native event itself, once;
// otherwise the closest equivalent. Pure.
import { isObject, type JsonObject } from "../../base/json.ts";

export function toClaudeFrame(frame: JsonObject): JsonObject | undefined {
  const { session_id, seq, persisted, raw, backend } = frame;
  const own = isObject(raw) && backend === "claude" ? raw : undefined;
  // Several frames can come from one native event; only the first shows it.
  if (raw === null || (own !== undefined && !isFirst(own, frame))) return undefined;
  const native = own ?? NATIVE[String(frame["type"])]?.(frame);
  if (native === undefined) return undefined;
  return {
    ...native,
    type: `claude.${String(native["type"])}`,
    session_id,
    ...(seq === undefined ? { persisted } : { seq }),
  };
}

/** Whether this is the first frame of a native event that is attached to several. */
function isFirst(native: JsonObject, { type, tool_use_id }: JsonObject): boolean {
  if (type === "agent.tool_use") return native["type"] !== "assistant";
  const first = firstResult(native);
  if (type === "agent.tool_result") return first?.["tool_use_id"] === tool_use_id;
  return type !== "agent.user_echo" || first === undefined;
}

function firstResult({ message }: JsonObject): JsonObject | undefined {
  const content = isObject(message) ? message["content"] : undefined;
  if (!Array.isArray(content)) return undefined;
  return content.filter(isObject).find(({ type }) => type === "tool_result");
}

const NATIVE: Record<string, (frame: JsonObject) => JsonObject | undefined> = {
  "agent.system_init": ({ model, cwd, tools }) => ({ type: "system", subtype: "init", model, cwd, tools }),
  "agent.delta": (frame) => ({
    type: "stream_event",
    event: { type: "content_block_delta", index: frame["index"] ?? 0, delta: nativeDelta(frame) },
  }),
  "agent.message": ({ role, content, parent_tool_use_id = null }) => ({
    type: "assistant",
    message: { role, content },
    parent_tool_use_id,
  }),
  "agent.user_echo": ({ message, parent_tool_use_id = null }) => ({
    type: "user",
    message,
    parent_tool_use_id,
  }),
  "agent.tool_result": ({ tool_use_id, output, is_error, parent_tool_use_id = null }) => ({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id, content: output, is_error }] },
    parent_tool_use_id,
  }),
  "agent.result": ({ subtype, duration_ms, num_turns, usage, error }) => ({
    type: "result",
    subtype: subtype === "success" ? "success" : NATIVE_SUBTYPES[String(subtype)],
    is_error: subtype !== "success",
    duration_ms,
    num_turns,
    usage,
    ...(isObject(error) ? { errors: [error["message"]] } : {}),
  }),
};

const NATIVE_SUBTYPES: Record<string, string> = {
  error: "error_during_execution",
  interrupted: "error_during_execution",
  max_turns: "error_max_turns",
  max_budget: "error_max_budget_usd",
};

function nativeDelta(frame: JsonObject): JsonObject {
  if (frame["kind"] === "thinking") return { type: "thinking_delta", thinking: frame["text"] };
  if (frame["kind"] === "tool_input")
    return { type: "input_json_delta", partial_json: frame["partial_json"] };
  return { type: "text_delta", text: frame["text"] };
}
