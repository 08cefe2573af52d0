// Records of a rollout → events. Its `response_item` lines are the conversation as the model has it, in the same form in
// every version; other lines only say when a turn ends.
import { isObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { asObject, asObjects, asString, asText } from "../../base/values.ts";
import type { ContentBlock } from "../../protocol/content.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { TranscriptReader } from "../types.ts";
import { NOT_THE_USERS } from "./rollout-head.ts";

const COMMAND = new Set(["shell", "exec_command", "local_shell", "container.exec"]);

export function createRolloutReader(): TranscriptReader {
  let isOpen = false;

  function end(subtype: ResultEvent["subtype"]): AgentEvent[] {
    if (!isOpen) return [];
    isOpen = false;
    return [{ type: "agent.result", backend: "codex", subtype }];
  }

  function readItem(item: JsonObject): AgentEvent[] {
    const { type, role } = item;
    if (type === "message" && role === "user") {
      const content = readUserContent(item);
      if (content.length === 0) return [];
      const before = end("success");
      isOpen = true;
      return [...before, { type: "agent.user_echo", backend: "codex", message: { role: "user", content } }];
    }
    const events = readAgentItem(item);
    if (events.length > 0) isOpen = true;
    return events;
  }

  return {
    read(record) {
      const { type } = record;
      const payload = asObject(record["payload"]);
      if (type === "response_item") return readItem(payload);
      if (type === "compacted") return [toNotice("codex", "compacted")];
      if (type === "event_msg" && payload["type"] === "task_complete") return end("success");
      if (type === "event_msg" && payload["type"] === "turn_aborted") return end("interrupted");
      // Before 0.40 the line itself was the item.
      return record["payload"] === undefined && typeof type === "string" ? readItem(record) : [];
    },
    end: () => end("interrupted"),
  };
}

function readAgentItem(item: JsonObject): AgentEvent[] {
  switch (item["type"]) {
    case "message": {
      const text = readTexts(item["content"], "output_text");
      return item["role"] === "assistant" && text !== "" ? [toMessage({ type: "text", text })] : [];
    }
    case "reasoning": {
      const thinking = readTexts(item["summary"], "summary_text");
      return thinking === "" ? [] : [toMessage({ type: "thinking", thinking })];
    }
    case "function_call":
      return toToolUse(item, readInput(item["arguments"]));
    case "custom_tool_call":
      return toToolUse(item, { input: item["input"] });
    case "local_shell_call":
      return toToolUse({ ...item, name: "local_shell" }, asObject(item["action"]));
    case "function_call_output":
    case "custom_tool_call_output":
      return toToolResult(item);
    default:
      return [];
  }
}

function toMessage(block: ContentBlock): AgentEvent {
  return { type: "agent.message", backend: "codex", role: "assistant", content: [block] };
}

function toToolUse(item: JsonObject, input: unknown): AgentEvent[] {
  const tool_use_id = asText(item["call_id"]);
  if (tool_use_id === undefined) return [];
  const own = asString(item["name"]) ?? "unknown";
  const name = COMMAND.has(own) ? "shell" : own;
  return [{ type: "agent.tool_use", backend: "codex", tool_use_id, name, input }];
}

function readInput(text: unknown): unknown {
  const input = typeof text === "string" ? tryParseJson(text) : undefined;
  if (!isObject(input)) return { arguments: text };
  const { cmd, ...rest } = input;
  return cmd === undefined ? input : { command: cmd, ...rest };
}

function toToolResult(item: JsonObject): AgentEvent[] {
  const tool_use_id = asText(item["call_id"]);
  if (tool_use_id === undefined) return [];
  const { output } = item;
  // Older versions: JSON with the output and its metadata, as text.
  const parsed = typeof output === "string" && output.startsWith("{") ? tryParseJson(output) : output;
  const text = isObject(parsed) && typeof parsed["output"] === "string" ? parsed["output"] : output;
  return [{ type: "agent.tool_result", backend: "codex", tool_use_id, output: text }];
}

function readTexts(content: unknown, type: string): string {
  return asObjects(content)
    .filter((block) => block["type"] === type)
    .map((block) => asString(block["text"]) ?? "")
    .join("\n");
}

/** Without what Codex says in the user's name. */
function readUserContent(item: JsonObject): ContentBlock[] {
  return asObjects(item["content"]).flatMap((block): ContentBlock[] => {
    const text = asString(block["text"]);
    if (text !== undefined) return text === "" || NOT_THE_USERS.test(text) ? [] : [{ type: "text", text }];
    return block["type"] === "input_image" ? [{ type: "image" }] : [];
  });
}
