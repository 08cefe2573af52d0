// What a transport itself has to say, between the messages of Claude Code.
import type { ClaudeMessage } from "./transport.ts";

/** "warning": told to the user at once. "cancelled": how Claude Code was brought to an end, for the report. */
export interface Notice {
  kind: "warning" | "cancelled";
  text: string;
}

/** Claude Code has no such type; a transport lets none of that name through. */
export const NOTICE_TYPE = "demian.notice";

export function noticeMessage({ kind, text }: Notice): ClaudeMessage {
  return { type: NOTICE_TYPE, kind, text };
}

export function noticeIn(message: ClaudeMessage): Notice | undefined {
  if (message.type !== NOTICE_TYPE) return undefined;
  return { kind: message["kind"] === "cancelled" ? "cancelled" : "warning", text: String(message["text"]) };
}
