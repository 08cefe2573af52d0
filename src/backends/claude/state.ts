// What the translator remembers about one claude process, and what it reports. Plain data; only translate.ts
// and the files it calls change it.
import type { JsonObject } from "../../base/json.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { ClaudeOptions } from "./options.ts";

/** In the order in which the sink has to hear them. */
export type Report =
  | { kind: "event"; event: AgentEvent }
  | { kind: "turn_started" }
  | { kind: "auth_failed"; message: string }
  | { kind: "native_id"; id: string };

export interface ClaudeState {
  readonly session_id: string;
  readonly options: ClaudeOptions;
  /** Where Claude Code keeps its conversations. */
  readonly projects: string;
  /** Claude's own session id; another one after /clear. */
  nativeId: string;
  /** The last `agent.system_init`, as text: claude prints init every turn, we pass on only what is new. */
  lastInit: string | undefined;
  /** Tool calls announced in this turn. */
  readonly toolUses: Set<string>;
  /** `total_cost_usd` counts for the whole process. */
  costUsd: number;
  /** The clients know that claude cannot log in; once a turn is enough. */
  authTold: boolean;
  /** The process has received a message; an init before that is only how it starts. */
  hasMessage: boolean;
  /** Sub-agents behind the turn: at work, or done while their news is still to come; see background.ts. */
  readonly background: Map<string, "works" | "done">;
  /** Sub-agents whose end has not come, by their task, with their name. */
  readonly agents: Map<string, string | undefined>;
  /** User messages of ours that have no result yet. */
  outstanding: number;
  /** Claude began a turn by itself. */
  agentTurn: boolean;
  /** Claude was seen at work since the last result. */
  hasBegun: boolean;
  /** session_state_changed was seen, so an idle will follow every last result. */
  hasStateEvents: boolean;
  /** A tool ended since our last message: the message may have been folded into that turn. */
  mayBeFolded: boolean;
  /** The result of a turn that claude began, while a message of ours waits; see turns.ts. */
  held: JsonObject | undefined;
  /** Usage and time of a turn of claude's own that ran ahead of our message; part of the message's result. */
  spentBefore: JsonObject | undefined;
}

export function newState(order: {
  session_id: string;
  native_session_id?: string;
  options: ClaudeOptions;
  projects: string;
}): ClaudeState {
  return {
    session_id: order.session_id,
    options: order.options,
    projects: order.projects,
    nativeId: order.native_session_id ?? order.session_id,
    lastInit: undefined,
    toolUses: new Set(),
    costUsd: 0,
    authTold: false,
    hasMessage: false,
    background: new Map(),
    agents: new Map(),
    outstanding: 0,
    agentTurn: false,
    hasBegun: false,
    hasStateEvents: false,
    mayBeFolded: false,
    held: undefined,
    spentBefore: undefined,
  };
}

export function isTurnActive(state: ClaudeState): boolean {
  return state.outstanding > 0 || state.agentTurn;
}

export function toReports(events: readonly AgentEvent[]): Report[] {
  return events.map((event) => ({ kind: "event", event }));
}

/** Omits what is not there, as the wire wants it. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
