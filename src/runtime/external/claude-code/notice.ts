// A transport's own notices, in between the messages of Claude Code.
import type { ClaudeMessage } from "./transport.ts";

/** "warning": shown to the user at once. "cancelled": how Claude Code was stopped, for the report. */
export interface Notice {
  kind: "warning" | "cancelled";
  text: string;
}

/** Not a type of Claude Code's; transports drop messages from it that use the name. */
export const NOTICE_TYPE = "demian.notice";

export function toNoticeMessage({ kind, text }: Notice): ClaudeMessage {
  return { type: NOTICE_TYPE, kind, text };
}

export function readNotice(message: ClaudeMessage): Notice | undefined {
  if (message.type !== NOTICE_TYPE) return undefined;
  return { kind: message["kind"] === "cancelled" ? "cancelled" : "warning", text: String(message["text"]) };
}
