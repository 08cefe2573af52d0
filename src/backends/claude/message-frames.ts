// `assistant` and `user` frames → messages, tool calls, tool results and echoes.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { ContentBlock } from "../../protocol/content.ts";
import type { AgentEvent, ToolResultEvent } from "../../protocol/events.ts";
import { type ClaudeState, optional, stringOf } from "./state.ts";

export function translateAssistant(state: ClaudeState, frame: JsonObject): AgentEvent[] {
  const message = isObject(frame["message"]) ? frame["message"] : {};
  const content = blocksOf(message["content"]);
  const isFinal = content.every((block) => block.type !== "tool_use");
  return [
    {
      type: "agent.message",
      backend: "claude",
      role: "assistant",
      content,
      ...(isFinal ? { phase: "final_answer" } : {}),
      ...optional("message_id", stringOf(message["id"])),
    },
    ...content.flatMap((block) => toToolUse(state, block, undefined)),
  ];
}

/** Never twice for one call: with partial messages it was announced when its block began, input still empty. */
export function toToolUse(state: ClaudeState, block: unknown, index: number | undefined): AgentEvent[] {
  if (!isObject(block) || block["type"] !== "tool_use") return [];
  const id = stringOf(block["id"]);
  if (id === undefined || state.toolUses.has(id)) return [];
  state.toolUses.add(id);
  return [
    {
      type: "agent.tool_use",
      backend: "claude",
      tool_use_id: id,
      name: stringOf(block["name"]) ?? "unknown",
      input: block["input"] ?? {},
      ...optional("index", index),
    },
  ];
}

export function translateUser(state: ClaudeState, frame: JsonObject): AgentEvent[] {
  const message = isObject(frame["message"]) ? frame["message"] : {};
  const content = message["content"];
  if (typeof content === "string") return echo(state, content);
  const blocks = blocksOf(content);
  const results = blocks.filter((block) => block.type === "tool_result");
  const others = blocks.filter((block) => block.type !== "tool_result");
  // The main agent's tool is over: the place where claude takes in a message that waits.
  if (results.length > 0 && typeof frame["parent_tool_use_id"] !== "string") state.mayBeFolded = true;
  const isEcho = others.length > 0 || results.length === 0;
  const permissions = permissionsOf(frame["tool_result_meta"]);
  return [
    ...results.flatMap((block) => toToolResult(block, permissions)),
    ...(isEcho ? echo(state, others) : []),
  ];
}

type Permissions = ReadonlyMap<string, ToolResultEvent["permission"]>;

/** By the id of the call; since 2.1.325: `user_temporary` is a person, `config` a rule or the mode. */
function permissionsOf(meta: unknown): Permissions {
  const permissions = new Map<string, ToolResultEvent["permission"]>();
  for (const entry of Array.isArray(meta) ? meta : []) {
    const { id, permission_decision: decided } = isObject(entry) ? entry : {};
    if (typeof id !== "string" || !isObject(decided)) continue;
    const decision = stringOf(decided["decision"]);
    if (decision === undefined) continue;
    permissions.set(id, {
      decision,
      ...optional("source", stringOf(decided["source"])),
      ...optional("reason", stringOf(decided["reason_type"])),
    });
  }
  return permissions;
}

function toToolResult(block: ContentBlock, permissions: Permissions): AgentEvent[] {
  const id = stringOf(block["tool_use_id"]);
  if (id === undefined) return [];
  const isError = block["is_error"];
  return [
    {
      type: "agent.tool_result",
      backend: "claude",
      tool_use_id: id,
      ...optional("output", block["content"]),
      ...optional("is_error", typeof isError === "boolean" ? isError : undefined),
      ...optional("permission", permissions.get(id)),
    },
  ];
}

function echo(state: ClaudeState, content: string | ContentBlock[]): AgentEvent[] {
  if (state.options.user_echo !== true) return [];
  return [{ type: "agent.user_echo", backend: "claude", message: { role: "user", content } }];
}

function blocksOf(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(
    (block): block is ContentBlock => isObject(block) && typeof block["type"] === "string",
  );
}
