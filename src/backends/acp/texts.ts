// What the agent says and thinks: chunks become deltas, and a whole message when the item ends, which is when another
// messageId begins, a tool steps between, or the turn ends.
import type { JsonObject } from "../../base/json.ts";
import type { ContentBlock } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { objectOf, optional, stringOf, textOf } from "../values.ts";
import type { AcpState, OpenText } from "./state.ts";

/** `parent`: the tool call of the sub-agent that speaks. */
export function addChunk(
  state: AcpState,
  kind: OpenText["kind"],
  update: JsonObject,
  parent: string | undefined,
): AgentEvent[] {
  const content = objectOf(update["content"]);
  const messageId = textOf(update["messageId"]);
  if (content["type"] !== "text") {
    return [...closeText(state, parent), messageOf(state, toBlock(content), messageId, parent)];
  }
  const text = stringOf(content["text"]) ?? "";
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
      ...optional("parent_tool_use_id", parent),
    },
  ];
}

function beginText(state: AcpState, text: Pick<OpenText, "kind" | "messageId" | "parent">): OpenText {
  state.textCount += 1;
  const open = { ...text, itemId: text.messageId ?? `text-${state.textCount}`, text: "" };
  state.texts.set(text.parent, open);
  return open;
}

/** Of the agent itself, or of the sub-agent that this call has started. */
export function closeText(state: AcpState, parent?: string): AgentEvent[] {
  const open = state.texts.get(parent);
  if (open === undefined) return [];
  state.texts.delete(parent);
  const isText = open.kind === "text";
  if (isText && state.turn !== undefined && parent === undefined) state.turn.lastText = open.text;
  const block = isText ? { type: "text", text: open.text } : { type: "thinking", thinking: open.text };
  return [messageOf(state, block, open.messageId, parent)];
}

/** The agent's own stands last: it may be the answer. */
export function closeTexts(state: AcpState): AgentEvent[] {
  const parents = [...state.texts.keys()].filter((parent) => parent !== undefined);
  return [...parents, undefined].flatMap((parent) => closeText(state, parent));
}

/** The turn ended well with it. */
export function asFinalAnswer(event: AgentEvent): AgentEvent {
  const isAnswer =
    event.type === "agent.message" &&
    event.parent_tool_use_id === undefined &&
    event.content.every(({ type }) => type === "text");
  return isAnswer ? { ...event, phase: "final_answer" } : event;
}

function messageOf(
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
    ...optional("message_id", messageId),
    ...optional("parent_tool_use_id", parent),
  };
}

/** Images in the shape that all backends share; everything else as the agent says it. */
export function toBlock(content: JsonObject): ContentBlock {
  const { type, data, mimeType } = content;
  if (type === "image" && typeof data === "string") {
    const media_type = stringOf(mimeType) ?? "image/png";
    return { type: "image", source: { type: "base64", media_type, data } };
  }
  return { ...content, type: stringOf(type) ?? "unknown" };
}
