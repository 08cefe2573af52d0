// Whole items and shell commands of a turn → events. Codex's reasoning is encrypted and shown to nobody.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { ContentBlock } from "../../../protocol/content.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { objectOf, optional, stringOf } from "../../values.ts";
import type { McpState } from "./state.ts";

const CODEX = { backend: "codex" } as const;
/** Under which name the output of a command stands differs between versions. */
const OUTPUTS = ["output", "aggregated_output", "formatted_output", "stdout"];

export function translateItem(state: McpState, msg: JsonObject): AgentEvent[] {
  const item = objectOf(msg["item"]);
  const content = contentOf(item["content"]);
  if (item["type"] === "AgentMessage") {
    const phase = optional("phase", stringOf(item["phase"]));
    return [{ type: "agent.message", ...CODEX, role: "assistant", content, ...phase }];
  }
  if (item["type"] === "UserMessage" && state.userEcho) {
    return [{ type: "agent.user_echo", ...CODEX, message: { role: "user", content } }];
  }
  return [];
}

export function translateExec(_state: McpState, msg: JsonObject): AgentEvent[] {
  const tool_use_id = stringOf(msg["call_id"]);
  if (tool_use_id !== undefined && msg["type"] === "exec_command_begin") {
    const name = stringOf(msg["tool"]) ?? "shell";
    const input = msg["command"] ?? msg["params"] ?? {};
    return [{ type: "agent.tool_use", ...CODEX, tool_use_id, name, input }];
  }
  if (tool_use_id !== undefined && msg["type"] === "exec_command_end") {
    const output = OUTPUTS.map((key) => msg[key]).find((value) => value !== undefined);
    const failed = optional("is_error", isErrorOf(msg));
    return [{ type: "agent.tool_result", ...CODEX, tool_use_id, ...optional("output", output), ...failed }];
  }
  const text = msg["type"] === "exec_command_output_delta" ? textIn(msg["chunk"]) : undefined;
  if (tool_use_id !== undefined && text !== undefined)
    return [toNotice("codex", "tool_output", { data: { tool_use_id, text } })];
  const type = stringOf(msg["type"])?.replace(/^exec_command_/, "") ?? "";
  return [toNotice("codex", `codex_exec_command_${type}`)];
}

/** The bytes of a piece of output, in base64. */
function textIn(chunk: unknown): string | undefined {
  const text = typeof chunk === "string" ? Buffer.from(chunk, "base64").toString("utf8") : "";
  return text === "" ? undefined : text;
}

function isErrorOf(msg: JsonObject): boolean | undefined {
  if (typeof msg["is_error"] === "boolean") return msg["is_error"];
  return typeof msg["exit_code"] === "number" ? msg["exit_code"] !== 0 : undefined;
}

/** Codex writes `Text` where the wire has `text`; other blocks go out as they are. */
function contentOf(content: unknown): ContentBlock[] {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block): ContentBlock[] => {
    if (!isObject(block) || typeof block["type"] !== "string") return [];
    if (block["type"].toLowerCase() !== "text") return [{ ...block, type: block["type"] }];
    return [{ type: "text", text: stringOf(block["text"]) ?? "" }];
  });
}
