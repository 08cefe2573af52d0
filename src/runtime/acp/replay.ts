// Converts a stored history to the updates sent when a session is loaded.
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Message, UserMessage } from "../messages.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { createCall, toTextContent } from "./tool-view.ts";

export interface ReplayOptions {
  cwd: string;
  tools: ToolRegistry;
  newId(): string;
  /** Returns the call's id on the wire. */
  reserve(callId: string): string;
}

export function replay(history: readonly Message[], options: ReplayOptions): SessionUpdate[] {
  const names = new Map<string, string>();
  return history.flatMap((message): SessionUpdate[] => {
    switch (message.role) {
      case "user":
        return toUserChunks(message, options.newId());
      case "assistant": {
        const text = message.content ?? "";
        const texts: SessionUpdate[] =
          text === ""
            ? []
            : [
                {
                  sessionUpdate: "agent_message_chunk",
                  content: { type: "text", text },
                  messageId: options.newId(),
                },
              ];
        const calls = (message.toolCalls ?? []).map(({ id, name, input }): SessionUpdate => {
          const toolCallId = options.reserve(id);
          names.set(id, toolCallId);
          return createCall(toolCallId, { name, input }, options);
        });
        return [...texts, ...calls];
      }
      case "tool": {
        const toolCallId = names.get(message.toolCallId);
        if (toolCallId === undefined) return [];
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId,
            status: message.isError ? "failed" : "completed",
            content: [toTextContent(message.content)],
          },
        ];
      }
      default:
        return [];
    }
  });
}

function toUserChunks(message: UserMessage, messageId: string): SessionUpdate[] {
  const parts =
    typeof message.content === "string"
      ? [{ type: "text" as const, text: message.content }]
      : message.content;
  return parts.flatMap((part): SessionUpdate[] => {
    const content: ContentBlock | undefined =
      part.type === "text" ? { type: "text", text: part.text } : toImageBlock(part.image_url.url);
    return content === undefined ? [] : [{ sessionUpdate: "user_message_chunk", content, messageId }];
  });
}

function toImageBlock(url: string): ContentBlock | undefined {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return undefined;
  return { type: "image", mimeType, data };
}
