// A kept history as the updates that a client draws when it loads the session.
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Message, UserMessage } from "../messages.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { newCall, textContent } from "./tool-view.ts";

export interface ReplayOrder {
  cwd: string;
  tools: ToolRegistry;
  newId(): string;
  /** Gives a call the name that it has on the wire. */
  reserve(callId: string): string;
}

export function replay(history: readonly Message[], order: ReplayOrder): SessionUpdate[] {
  const names = new Map<string, string>();
  return history.flatMap((message): SessionUpdate[] => {
    switch (message.role) {
      case "user":
        return userChunks(message, order.newId());
      case "assistant": {
        const text = message.content ?? "";
        const said: SessionUpdate[] =
          text === ""
            ? []
            : [
                {
                  sessionUpdate: "agent_message_chunk",
                  content: { type: "text", text },
                  messageId: order.newId(),
                },
              ];
        const calls = (message.toolCalls ?? []).map(({ id, name, input }): SessionUpdate => {
          const toolCallId = order.reserve(id);
          names.set(id, toolCallId);
          return newCall(toolCallId, { name, input }, order);
        });
        return [...said, ...calls];
      }
      case "tool": {
        const toolCallId = names.get(message.toolCallId);
        if (toolCallId === undefined) return [];
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId,
            status: message.isError ? "failed" : "completed",
            content: [textContent(message.content)],
          },
        ];
      }
      default:
        return [];
    }
  });
}

function userChunks(message: UserMessage, messageId: string): SessionUpdate[] {
  const parts =
    typeof message.content === "string"
      ? [{ type: "text" as const, text: message.content }]
      : message.content;
  return parts.flatMap((part): SessionUpdate[] => {
    const content: ContentBlock | undefined =
      part.type === "text" ? { type: "text", text: part.text } : imageBlock(part.image_url.url);
    return content === undefined ? [] : [{ sessionUpdate: "user_message_chunk", content, messageId }];
  });
}

function imageBlock(url: string): ContentBlock | undefined {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return undefined;
  return { type: "image", mimeType, data };
}
