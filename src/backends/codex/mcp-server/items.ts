// Complete items and shell commands of a turn → events. Codex's reasoning is encrypted and not shown.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asString, defined } from "../../../base/values.ts";
import type { ContentBlock } from "../../../protocol/content.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import type { McpState } from "./state.ts";

const CODEX = { backend: "codex" } as const;
/** The name of a command's output differs between versions. */
const OUTPUTS = ["output", "aggregated_output", "formatted_output", "stdout"];

export function translateItem(state: McpState, msg: JsonObject): AgentEvent[] {
  const item = asObject(msg["item"]);
  const content = readContent(item["content"]);
  if (item["type"] === "AgentMessage") {
    const phase = defined({ phase: asString(item["phase"]) });
    return [{ type: "agent.message", ...CODEX, role: "assistant", content, ...phase }];
  }
  if (item["type"] === "UserMessage" && state.userEcho) {
    return [{ type: "agent.user_echo", ...CODEX, message: { role: "user", content } }];
  }
  return [];
}

export function translateExec(_state: McpState, msg: JsonObject): AgentEvent[] {
  const tool_use_id = asString(msg["call_id"]);
  if (tool_use_id !== undefined && msg["type"] === "exec_command_begin") {
    const name = asString(msg["tool"]) ?? "shell";
    const input = msg["command"] ?? msg["params"] ?? {};
    return [{ type: "agent.tool_use", ...CODEX, tool_use_id, name, input }];
  }
  if (tool_use_id !== undefined && msg["type"] === "exec_command_end") {
    const output = OUTPUTS.map((key) => msg[key]).find((value) => value !== undefined);
    const failed = defined({ is_error: readIsError(msg) });
    return [{ type: "agent.tool_result", ...CODEX, tool_use_id, ...defined({ output }), ...failed }];
  }
  const text = msg["type"] === "exec_command_output_delta" ? textIn(msg["chunk"]) : undefined;
  if (tool_use_id !== undefined && text !== undefined)
    return [toNotice("codex", "tool_output", { data: { tool_use_id, text } })];
  const type = asString(msg["type"])?.replace(/^exec_command_/, "") ?? "";
  return [toNotice("codex", `codex_exec_command_${type}`)];
}

/** A chunk of output, base64. */
function textIn(chunk: unknown): string | undefined {
  const text = typeof chunk === "string" ? Buffer.from(chunk, "base64").toString("utf8") : "";
  return text === "" ? undefined : text;
}

function readIsError(msg: JsonObject): boolean | undefined {
  if (typeof msg["is_error"] === "boolean") return msg["is_error"];
  return typeof msg["exit_code"] === "number" ? msg["exit_code"] !== 0 : undefined;
}

/** Codex writes `Text` where the wire has `text`; other blocks are passed unchanged. */
function readContent(content: unknown): ContentBlock[] {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block): ContentBlock[] => {
    if (!isObject(block) || typeof block["type"] !== "string") return [];
    if (block["type"].toLowerCase() !== "text") return [{ ...block, type: block["type"] }];
    return [{ type: "text", text: asString(block["text"]) ?? "" }];
  });
}
