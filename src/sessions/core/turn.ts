// The running turn: what is recorded about it, and the stamps on its frames.
import { defined } from "../../base/values.ts";
import type { AgentEvent, NoticeEvent, ResultEvent } from "../../protocol/events.ts";
import { readText } from "../../protocol/message-text.ts";
import type { LastResult } from "../../protocol/session.ts";
import type { OpenTool, Turn } from "./state.ts";

/** The message of a turn whose agent ended with the daemon, or after it. */
export const TURN_CUT = "the daemon stopped during this turn; send again to continue";

export function createTurn(turn_id: string, started_at_ms: number, origin: Turn["origin"]): Turn {
  return {
    turn_id,
    started_at_ms,
    origin,
    isAnnounced: false,
    isThinking: false,
    isGiven: true,
    isInterrupted: false,
    openTools: [],
  };
}

export function makeStartedNotice(turn: Turn, backend: string): NoticeEvent {
  return {
    type: "agent.notice",
    backend,
    level: "info",
    category: "task_started",
    data: {
      turn_id: turn.turn_id,
      started_at_ms: turn.started_at_ms,
      ...(turn.origin === "agent" ? { origin: "agent" } : {}),
    },
  };
}

/** Published when the idle timeout ends a running turn. */
export function makeIdleNotice(backend: string): NoticeEvent {
  const text =
    "the session had no owner for idle_timeout_s, so its running turn was ended; resume the session to continue";
  return { type: "agent.notice", backend, level: "warn", category: "idle_timeout", text };
}

/** How much of an answer lists and parents get to see. */
const MAX_LAST_TEXT = 2_000;

const CONTENT = new Set<AgentEvent["type"]>(["agent.delta", "agent.message", "agent.tool_use"]);

/** Returns the same object if the event changes nothing, which is the usual case. */
export function noteEvent(turn: Turn, event: AgentEvent, nowMs: number): Turn {
  const isFirst = turn.firstTokenMs === undefined && CONTENT.has(event.type);
  const noted = isFirst ? { ...turn, firstTokenMs: nowMs - turn.started_at_ms } : turn;
  switch (event.type) {
    case "agent.notice":
      return noted;
    case "agent.delta":
      return withThinking(noted, event.kind === "thinking");
    case "agent.message":
      return withThinking(withText(noted, event), false);
    case "agent.tool_use": {
      const { tool_use_id, parent_tool_use_id } = event;
      const tool = { tool_use_id, ...defined({ parent_tool_use_id }) };
      return withThinking({ ...noted, openTools: [...without(noted.openTools, tool_use_id), tool] }, false);
    }
    case "agent.tool_result":
      return withThinking({ ...noted, openTools: without(noted.openTools, event.tool_use_id) }, false);
    default:
      return withThinking(noted, false);
  }
}

function withThinking(turn: Turn, isThinking: boolean): Turn {
  return turn.isThinking === isThinking ? turn : { ...turn, isThinking };
}

function withText(turn: Turn, event: AgentEvent & { type: "agent.message" }): Turn {
  if (event.parent_tool_use_id !== undefined) return turn;
  const text = readText({ role: "user", content: event.content }, "\n").trim();
  return text === "" ? turn : { ...turn, lastText: text.slice(-MAX_LAST_TEXT) };
}

function without(tools: readonly OpenTool[], tool_use_id: string): readonly OpenTool[] {
  return tools.filter((tool) => tool.tool_use_id !== tool_use_id);
}

/** Results for tool calls that were cut off, so that none stays open when we end a turn. */
export function makeClosingResults({ openTools }: Turn, backend: string): AgentEvent[] {
  // Newest first: a sub-agent's calls end before the call that started it.
  return openTools.toReversed().map((tool) => ({
    type: "agent.tool_result",
    backend,
    output: "interrupted",
    is_error: true,
    ...tool,
  }));
}

/** The agent's result with our stamps; interrupted and failed turns are reported as such, whatever the agent says. */
export function stampResult(turn: Turn, result: ResultEvent): ResultEvent & { turn_id: string } {
  const stamped: ResultEvent & { turn_id: string } = { ...result, turn_id: turn.turn_id };
  if (stamped.time_to_first_token_ms === undefined && turn.firstTokenMs !== undefined) {
    stamped.time_to_first_token_ms = Math.max(0, Math.round(turn.firstTokenMs));
  }
  if (turn.verdict !== undefined) {
    const { subtype = "error", ...error } = turn.verdict;
    stamped.subtype = subtype;
    stamped.error = error;
  } else if (turn.isInterrupted && stamped.subtype === "error") {
    stamped.subtype = "interrupted";
    delete stamped.error;
  }
  return stamped;
}

/** The result of a turn whose agent will not report one. */
export function makeSyntheticResult(
  backend: string,
  subtype: "interrupted" | "error",
  error?: { code: string; message: string },
): ResultEvent {
  return { type: "agent.result", backend, subtype, num_turns: 1, ...defined({ error }) };
}

/** What the row keeps about the last turn. */
export function toLastResult(
  result: ResultEvent & { turn_id: string },
  nowMs: number,
  text?: string,
): LastResult {
  const { turn_id, subtype, error } = result;
  return {
    turn_id,
    subtype,
    ended_at_ms: nowMs,
    ...defined({ text }),
    ...(error === undefined
      ? {}
      : { error: { code: String(error.code ?? "error"), message: error.message } }),
  };
}
