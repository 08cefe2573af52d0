// `stream_event` frames (only with include_partial_messages) → deltas and the start of tool calls. The final text is
// never built from deltas: after a stream error claude retries and prints another message.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asCount, asString, defined } from "../../base/values.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import { toToolUse } from "./message-frames.ts";
import type { ClaudeState } from "./state.ts";

interface DeltaRow {
  kind: "text" | "thinking" | "tool_input";
  from: string;
  to: "text" | "partial_json";
}

const DELTAS: ReadonlyMap<unknown, DeltaRow> = new Map([
  ["text_delta", { kind: "text", from: "text", to: "text" }],
  ["thinking_delta", { kind: "thinking", from: "thinking", to: "text" }],
  ["input_json_delta", { kind: "tool_input", from: "partial_json", to: "partial_json" }],
] as const);

export function translateStreamEvent(state: ClaudeState, frame: JsonObject): AgentEvent[] {
  const event = frame["event"];
  if (!isObject(event)) return [];
  const index = asCount(event["index"]);
  if (event["type"] === "content_block_delta") return [translateDelta(event["delta"], index)];
  if (event["type"] === "content_block_start") return toToolUse(state, event["content_block"], index);
  return [];
}

function translateDelta(delta: unknown, index: number | undefined): AgentEvent {
  const type = isObject(delta) ? delta["type"] : undefined;
  const row = DELTAS.get(type);
  const text = row !== undefined && isObject(delta) ? asString(delta[row.from]) : undefined;
  if (row === undefined || text === undefined) {
    const data = { delta, ...defined({ index }) };
    return toNotice("claude", `claude_delta_${asString(type) ?? "unknown"}`, { data });
  }
  return {
    type: "agent.delta",
    backend: "claude",
    kind: row.kind,
    [row.to]: text,
    ...defined({ index }),
  };
}
