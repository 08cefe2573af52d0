// The conversation as the loop keeps it, in OpenAI's shape. Other providers convert it themselves.

export interface SystemMessage {
  role: "system";
  content: string;
}

export type UserContentPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string; detail?: ImageDetail } };

export type ImageDetail = "auto" | "low" | "high";

export interface UserMessage {
  role: "user";
  content: string | UserContentPart[];
}

export interface ToolCall {
  id: string;
  name: string;
  /** Not validated. The raw string where it is not valid JSON. */
  input: unknown;
}

export interface AssistantMessage {
  role: "assistant";
  content?: string | null;
  toolCalls?: ToolCall[];
}

export interface ToolMessage {
  role: "tool";
  toolCallId: string;
  name: string;
  content: string;
  isError?: boolean;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export function readUserText(message: UserMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
