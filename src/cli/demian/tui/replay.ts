// Shows a conversation that continues: its messages and tool calls as events, with the end of each turn.
import type { AgentEvent } from "../../../protocol/events.ts";
import { parseSummary } from "../../../runtime/context/summary.ts";
import { type Message, readUserText, type UserMessage } from "../../../runtime/messages.ts";
import { BACKEND } from "./translate.ts";

/** What came before is still known to the model. */
const MAX_MESSAGES = 400;

export interface Replayed {
  events: AgentEvent[];
  /** Earlier messages that are not among the events. */
  omitted: number;
}

export function replayHistory(history: readonly Message[]): Replayed {
  const from = findStart(history);
  const events: AgentEvent[] = [];
  const shown = history.slice(from);
  for (const [index, message] of shown.entries()) {
    if (message.role === "user" && index > 0) events.push(createEnd(shown[index - 1]));
    events.push(...toEvents(message, `replayed_${from + index}`));
  }
  if (shown.length > 0) events.push(createEnd(shown.at(-1)));
  return { events, omitted: from };
}

/** At the start of a turn. */
function findStart(history: readonly Message[]): number {
  const from = Math.max(0, history.length - MAX_MESSAGES);
  const start = history.findIndex(({ role }, index) => index >= from && role === "user");
  return start === -1 ? from : start;
}

function toEvents(message: Message, message_id: string): AgentEvent[] {
  switch (message.role) {
    case "user":
      return [toUserEvent(message)];
    case "assistant": {
      const { content, toolCalls = [] } = message;
      const said = content === null || content === undefined || content === "" ? [] : [content];
      return [
        ...said.map((text): AgentEvent => {
          const parts = [{ type: "text" as const, text }];
          return { type: "agent.message", backend: BACKEND, role: "assistant", content: parts, message_id };
        }),
        ...toolCalls.map(({ id, name, input }): AgentEvent => {
          return { type: "agent.tool_use", backend: BACKEND, tool_use_id: id, name, input };
        }),
      ];
    }
    case "tool": {
      const { toolCallId, content: output, isError = false } = message;
      return [
        { type: "agent.tool_result", backend: BACKEND, tool_use_id: toolCallId, output, is_error: isError },
      ];
    }
    default:
      return [];
  }
}

function toUserEvent(message: UserMessage): AgentEvent {
  const text = readUserText(message);
  const summary = parseSummary(text);
  const images =
    typeof message.content === "string" ? [] : message.content.filter(({ type }) => type !== "text");
  const shown = summary === undefined ? text : `[summary of ${summary.messages} earlier messages]`;
  const content = [{ type: "text" as const, text: shown }, ...images.map(() => ({ type: "image" as const }))];
  return { type: "agent.user_echo", backend: BACKEND, message: { role: "user", content } };
}

/** Of a turn, from its last message. */
function createEnd(last: Message | undefined): AgentEvent {
  const isCut = last?.role !== "assistant" || (last.toolCalls ?? []).length > 0;
  return { type: "agent.result", backend: BACKEND, subtype: isCut ? "interrupted" : "success" };
}
