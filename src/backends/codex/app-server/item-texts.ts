// Text items: the model's messages, reasoning and plans, and the user's message as Codex received it.

import type { JsonObject } from "../../../base/json.ts";
import { asCount, asObjects, asString, asStrings, asText, defined } from "../../../base/values.ts";
import type { ContentBlock } from "../../../protocol/content.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { CodexState, OpenItem } from "./state.ts";

type Complete = (state: CodexState, item: JsonObject, open: OpenItem | undefined) => AgentEvent[];

const TEXT_ITEMS: ReadonlyMap<unknown, Complete> = new Map<unknown, Complete>([
  ["agentMessage", (_state, item) => [toMessage(item, asText(item["phase"]))]],
  // The answer of plan mode.
  ["plan", (_state, item) => [toMessage(item, "plan")]],
  ["reasoning", (_state, item, open) => toThinking(item, open)],
  ["userMessage", (state, item) => echo(state, item)],
]);

export function findTextItem(item: JsonObject): Complete | undefined {
  return TEXT_ITEMS.get(item["type"]);
}

export function toTextDelta(params: JsonObject): AgentEvent[] {
  return toDelta("text", params, undefined);
}

export function toThinkingDelta(params: JsonObject): AgentEvent[] {
  return toDelta("thinking", params, params["summaryIndex"] ?? params["contentIndex"]);
}

function toDelta(kind: "text" | "thinking", params: JsonObject, index: unknown): AgentEvent[] {
  const text = asText(params["delta"]);
  if (text === undefined) return [];
  return [
    {
      type: "agent.delta",
      backend: "codex",
      kind,
      text,
      ...defined({ index: asCount(index), item_id: asString(params["itemId"]) }),
    },
  ];
}

function toMessage(item: JsonObject, phase: string | undefined): AgentEvent {
  const questions = asObjects(item["questions"]);
  return {
    type: "agent.message",
    backend: "codex",
    role: "assistant",
    content: [
      { type: "text", text: asString(item["text"]) ?? "" },
      ...(questions.length > 0 ? [{ type: "questions", questions }] : []),
    ],
    ...defined({ phase, message_id: asString(item["id"]) }),
  };
}

/** Reasoning arrives as deltas; without any it is emitted whole. */
function toThinking(item: JsonObject, open: OpenItem | undefined): AgentEvent[] {
  if (open?.hasDelta === true) return [];
  const [summary, content] = [asStrings(item["summary"]), asStrings(item["content"])];
  const delta = (summary.length > 0 ? summary : content).join("\n\n");
  return toDelta("thinking", { delta, itemId: item["id"] }, undefined);
}

function echo(state: CodexState, item: JsonObject): AgentEvent[] {
  if (state.options.user_echo !== true) return [];
  const content = asObjects(item["content"]).flatMap(toBlock);
  return [{ type: "agent.user_echo", backend: "codex", message: { role: "user", content } }];
}

function toBlock(input: JsonObject): ContentBlock[] {
  const type = asString(input["type"]);
  if (type === undefined) return [];
  if (type === "text") return [{ type, text: asString(input["text"]) ?? "" }];
  const url = asString(input["url"]);
  if (type !== "image" || url === undefined) return [{ ...input, type }];
  const [, media_type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  const source = data === undefined ? { type: "url", url } : { type: "base64", media_type, data };
  return [{ type, source }];
}
