// The turn that runs in a session: pure data and the stamps that its frames carry.

import type { AgentEvent, NoticeEvent, ResultEvent } from "../protocol/events.ts";
import { textOf } from "../protocol/message-text.ts";
import type { LastResult } from "../protocol/session.ts";

export interface Turn {
  readonly turn_id: string;
  readonly started_at_ms: number;
  /** Who began it: a client's message, or the agent by itself. */
  readonly origin: "user" | "agent";
  /** The `task_started` notice is out. It waits for the first system_init of a process (wire facts §3). */
  announced: boolean;
  firstTokenMs?: number;
  /** A client asked to stop it. */
  interrupting: boolean;
  /** Tool calls that were shown and have no result yet: the id, and the call of the sub-agent that made it. */
  readonly openTools: Map<string, string | undefined>;
  /** The end of what the agent said last. */
  lastText?: string;
  /** How it ends whatever the agent says: set when we end it because of an error. */
  verdict?: { code: string; message: string };
}

export function createTurn(turn_id: string, started_at_ms: number, origin: Turn["origin"]): Turn {
  return { turn_id, started_at_ms, origin, announced: false, interrupting: false, openTools: new Map() };
}

export function startedNotice(turn: Turn, backend: string): NoticeEvent {
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

/** The reaper ends a turn whose owner has been gone for too long. */
export function idleNotice(backend: string): NoticeEvent {
  const text =
    "nobody owned the session for idle_timeout_s, so its running turn was ended; resume the session to continue";
  return { type: "agent.notice", backend, level: "warn", category: "idle_timeout", text };
}

/** Of an answer, what a list or a parent is shown. */
const MAX_LAST_TEXT = 2_000;

const CONTENT = new Set<AgentEvent["type"]>(["agent.delta", "agent.message", "agent.tool_use"]);

export function noteEvent(turn: Turn, event: AgentEvent, nowMs: number): void {
  if (turn.firstTokenMs === undefined && CONTENT.has(event.type)) {
    turn.firstTokenMs = nowMs - turn.started_at_ms;
  }
  if (event.type === "agent.message" && event.parent_tool_use_id === undefined) {
    const text = textOf({ role: "user", content: event.content }, "\n").trim();
    if (text !== "") turn.lastText = text.slice(-MAX_LAST_TEXT);
  }
  if (event.type === "agent.tool_use") turn.openTools.set(event.tool_use_id, event.parent_tool_use_id);
  else if (event.type === "agent.tool_result") turn.openTools.delete(event.tool_use_id);
}

/** What stands for the results of tools that were cut off, so that no call is left open when we end a turn. */
export function closingResults({ openTools }: Turn, backend: string): AgentEvent[] {
  // What was begun last ends first: a sub-agent's call before the call that started it.
  return [...openTools].reverse().map(([tool_use_id, parent_tool_use_id]) => ({
    type: "agent.tool_result",
    backend,
    tool_use_id,
    output: "interrupted",
    is_error: true,
    ...(parent_tool_use_id === undefined ? {} : { parent_tool_use_id }),
  }));
}

/** The agent's result with our stamps; an interrupted or failed turn ends as such whatever the agent calls it. */
export function stampResult(turn: Turn, result: ResultEvent): ResultEvent & { turn_id: string } {
  const stamped: ResultEvent & { turn_id: string } = { ...result, turn_id: turn.turn_id };
  if (stamped.time_to_first_token_ms === undefined && turn.firstTokenMs !== undefined) {
    stamped.time_to_first_token_ms = Math.max(0, Math.round(turn.firstTokenMs));
  }
  if (turn.verdict !== undefined) {
    stamped.subtype = "error";
    stamped.error = turn.verdict;
  } else if (turn.interrupting && stamped.subtype === "error") {
    stamped.subtype = "interrupted";
    delete stamped.error;
  }
  return stamped;
}

/** The result of a turn whose agent will never give one. */
export function syntheticResult(
  backend: string,
  subtype: "interrupted" | "error",
  error?: { code: string; message: string },
): ResultEvent {
  return { type: "agent.result", backend, subtype, num_turns: 1, ...(error === undefined ? {} : { error }) };
}

/** What is remembered of a turn in the session's row. */
export function lastResultOf(
  result: ResultEvent & { turn_id: string },
  nowMs: number,
  text?: string,
): LastResult {
  const { turn_id, subtype, error } = result;
  return {
    turn_id,
    subtype,
    ended_at_ms: nowMs,
    ...(text === undefined ? {} : { text }),
    ...(error === undefined
      ? {}
      : { error: { code: String(error.code ?? "error"), message: error.message } }),
  };
}
