// `assistant` and `user` frames → messages, tool calls, tool results and echoes.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, defined } from "../../base/values.ts";
import type { ContentBlock } from "../../protocol/content.ts";
import type { AgentEvent, ToolResultEvent } from "../../protocol/events.ts";
import type { ClaudeState } from "./state.ts";

export function translateAssistant(state: ClaudeState, frame: JsonObject): AgentEvent[] {
  const message = asObject(frame["message"]);
  const content = readBlocks(message["content"]);
  const isFinal = content.every((block) => block.type !== "tool_use");
  return [
    {
      type: "agent.message",
      backend: "claude",
      role: "assistant",
      content,
      ...(isFinal ? { phase: "final_answer" } : {}),
      ...defined({ message_id: asString(message["id"]) }),
    },
    ...content.flatMap((block) => toToolUse(state, block, undefined)),
  ];
}

/** Once per call: with partial messages the call was announced when its block started, without input. */
export function toToolUse(state: ClaudeState, block: unknown, index: number | undefined): AgentEvent[] {
  if (!isObject(block) || block["type"] !== "tool_use") return [];
  const id = asString(block["id"]);
  if (id === undefined || state.toolUses.has(id)) return [];
  state.toolUses.add(id);
  return [
    {
      type: "agent.tool_use",
      backend: "claude",
      tool_use_id: id,
      name: asString(block["name"]) ?? "unknown",
      input: block["input"] ?? {},
      ...defined({ index }),
    },
  ];
}

export function translateUser(state: ClaudeState, frame: JsonObject): AgentEvent[] {
  const message = asObject(frame["message"]);
  const content = message["content"];
  if (typeof content === "string") return echo(state, content);
  const blocks = readBlocks(content);
  const results = blocks.filter((block) => block.type === "tool_result");
  const others = blocks.filter((block) => block.type !== "tool_result");
  // The main agent's tool has ended: here claude takes in a waiting message.
  if (results.length > 0 && typeof frame["parent_tool_use_id"] !== "string") state.mayBeFolded = true;
  const isEcho = others.length > 0 || results.length === 0;
  const permissions = readPermissions(frame["tool_result_meta"]);
  return [
    ...results.flatMap((block) => toToolResult(block, permissions)),
    ...(isEcho ? echo(state, others) : []),
  ];
}

type Permissions = ReadonlyMap<string, ToolResultEvent["permission"]>;

/** By call id. Since 2.1.325; the source `user_temporary` is the user, `config` a rule or the mode. */
function readPermissions(meta: unknown): Permissions {
  const permissions = new Map<string, ToolResultEvent["permission"]>();
  for (const { id, permission_decision: decided } of asObjects(meta)) {
    if (typeof id !== "string" || !isObject(decided)) continue;
    const decision = asString(decided["decision"]);
    if (decision === undefined) continue;
    permissions.set(id, {
      decision,
      ...defined({ source: asString(decided["source"]), reason: asString(decided["reason_type"]) }),
    });
  }
  return permissions;
}

function toToolResult(block: ContentBlock, permissions: Permissions): AgentEvent[] {
  const id = asString(block["tool_use_id"]);
  if (id === undefined) return [];
  const isError = block["is_error"];
  return [
    {
      type: "agent.tool_result",
      backend: "claude",
      tool_use_id: id,
      ...defined({
        output: block["content"],
        is_error: typeof isError === "boolean" ? isError : undefined,
        permission: permissions.get(id),
      }),
    },
  ];
}

function echo(state: ClaudeState, content: string | ContentBlock[]): AgentEvent[] {
  if (state.options.user_echo !== true) return [];
  return [{ type: "agent.user_echo", backend: "claude", message: { role: "user", content } }];
}

function readBlocks(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asObjects(content).filter((block): block is ContentBlock => typeof block["type"] === "string");
}
