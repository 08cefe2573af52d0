// The translator's state for one claude process, and its reports. Only translate.ts and the files it calls change it.
import type { JsonObject } from "../../base/json.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { Steered } from "../types.ts";
import type { ClaudeOptions } from "./options.ts";

/** In the order in which the sink must get them. */
export type ClaudeReport =
  | { kind: "event"; event: AgentEvent }
  | { kind: "turn_started" }
  | { kind: "auth_failed"; message: string }
  | { kind: "used"; usage: Usage }
  | { kind: "steered"; message_id: string; how: Steered }
  | { kind: "native_id"; id: string };

export interface ClaudeState {
  readonly session_id: string;
  readonly options: ClaudeOptions;
  /** Claude Code's `projects` directory. */
  readonly projects: string;
  /** Claude's own session id; changes after /clear. */
  nativeId: string;
  /** The last `agent.system_init`, as text: claude prints init every turn, and only changes are passed on. */
  lastInit: string | undefined;
  /** Tool calls announced in this turn. */
  readonly toolUses: Set<string>;
  /** `total_cost_usd` of the process so far. */
  costUsd: number;
  /** A failed login was reported in this turn. */
  authReported: boolean;
  /** The process has received a message; an init before that is part of its start. */
  hasMessage: boolean;
  /** Background sub-agents: working, or done but not yet mentioned by claude; see background.ts. */
  readonly background: Map<string, "works" | "done">;
  /** The names of running sub-agents by task. */
  readonly agents: Map<string, string | undefined>;
  /** Our messages without a result. */
  outstanding: number;
  /** Claude started a turn itself. */
  agentTurn: boolean;
  /** Claude was seen at work since the last result. */
  hasBegun: boolean;
  /** `session_state_changed` was seen, so an idle will follow the last result. */
  hasStateEvents: boolean;
  /** A tool ended since our last message, which may have been folded into that turn. */
  mayBeFolded: boolean;
  /** The result of a turn that claude started while a message of ours was waiting; see turns.ts. */
  held: JsonObject | undefined;
  /** Usage and time of claude's own turn before our message; added to the message's result. */
  spentBefore: JsonObject | undefined;
  /** `command_lifecycle` was seen: claude reports what becomes of each message (not in 2.1.197). Absent: no. */
  hasLifecycle?: boolean;
  /** Messages for the running turn, by claude's id, until it reports what became of them. Absent: none. */
  steers?: Map<string, string>;
  /** Usage of the turn's model calls: of those that ended, and of the last one. Absent: none yet. */
  calls?: { before: Usage; id: string; last: Usage } | undefined;
}

export function createState(order: {
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
    authReported: false,
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

export function toReports(events: readonly AgentEvent[]): ClaudeReport[] {
  return events.map((event) => ({ kind: "event", event }));
}
