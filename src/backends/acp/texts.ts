// Text and thinking: chunks become deltas, and a whole message when the item ends: another messageId, a tool call, or
// the end of the turn.

import type { JsonObject } from "../../base/json.ts";
import { asObject, asString, asText, defined } from "../../base/values.ts";
import type { ContentBlock } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { AcpState, OpenText } from "./state.ts";

/** `parent`: the tool call of the sub-agent that speaks. */
export function addChunk(
  state: AcpState,
  kind: OpenText["kind"],
  update: JsonObject,
  parent: string | undefined,
): AgentEvent[] {
  const content = asObject(update["content"]);
  const messageId = asText(update["messageId"]);
  if (content["type"] !== "text") {
    return [...closeText(state, parent), makeMessage(state, toBlock(content), messageId, parent)];
  }
  const text = asString(content["text"]) ?? "";
  if (text === "") return [];
  const before = state.texts.get(parent);
  const isSame = before?.kind === kind && before.messageId === messageId;
  const events = isSame ? [] : closeText(state, parent);
  const open = isSame ? before : beginText(state, { kind, messageId, parent });
  open.text += text;
  return [
    ...events,
    {
      type: "agent.delta",
      backend: state.backend,
      kind,
      text,
      item_id: open.itemId,
      ...defined({ parent_tool_use_id: parent }),
    },
  ];
}

function beginText(state: AcpState, text: Pick<OpenText, "kind" | "messageId" | "parent">): OpenText {
  state.textCount += 1;
  const open = { ...text, itemId: text.messageId ?? `text-${state.textCount}`, text: "" };
  state.texts.set(text.parent, open);
  return open;
}

/** Of the agent itself, or of the sub-agent started by this call. */
export function closeText(state: AcpState, parent?: string): AgentEvent[] {
  const open = state.texts.get(parent);
  if (open === undefined) return [];
  state.texts.delete(parent);
  const isText = open.kind === "text";
  if (isText && state.turn !== undefined && parent === undefined) state.turn.lastText = open.text;
  const block = isText ? { type: "text", text: open.text } : { type: "thinking", thinking: open.text };
  return [makeMessage(state, block, open.messageId, parent)];
}

/** The agent's own comes last: it may be the answer. */
export function closeTexts(state: AcpState): AgentEvent[] {
  const parents = [...state.texts.keys()].filter((parent) => parent !== undefined);
  return [...parents, undefined].flatMap((parent) => closeText(state, parent));
}

/** The turn succeeded with it. */
export function asFinalAnswer(event: AgentEvent): AgentEvent {
  const isAnswer =
    event.type === "agent.message" &&
    event.parent_tool_use_id === undefined &&
    event.content.every(({ type }) => type === "text");
  return isAnswer ? { ...event, phase: "final_answer" } : event;
}

function makeMessage(
  state: AcpState,
  block: ContentBlock,
  messageId: string | undefined,
  parent: string | undefined,
): AgentEvent & { type: "agent.message" } {
  return {
    type: "agent.message",
    backend: state.backend,
    role: "assistant",
    content: [block],
    ...defined({ message_id: messageId, parent_tool_use_id: parent }),
  };
}

/** Images in the shape that all backends share; everything else unchanged. */
export function toBlock(content: JsonObject): ContentBlock {
  const { type, data, mimeType } = content;
  if (type === "image" && typeof data === "string") {
    const media_type = asString(mimeType) ?? "image/png";
    return { type: "image", source: { type: "base64", media_type, data } };
  }
  return { ...content, type: asString(type) ?? "unknown" };
}
