// What the translator remembers about one `codex mcp-server` process, and what it reports. Plain data; only
// translate.ts and the files it calls change it.
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Usage } from "../../../protocol/usage.ts";

/** In the order in which the sink has to hear them. */
export type Report =
  | { kind: "event"; event: AgentEvent }
  | { kind: "auth_failed"; message: string }
  | { kind: "native_id"; id: string };

/** What came during the turn and belongs into its result, but for Codex's own id of it: the daemon gives a turn its id. */
export interface Held {
  native_turn_id?: string;
  duration_ms?: number;
  time_to_first_token_ms?: number;
  usage?: Usage;
  /** Codex said in a structured way that the login is at fault. */
  isAuth?: boolean;
}

export interface McpState {
  readonly includeRaw: boolean;
  readonly userEcho: boolean;
  threadId: string | undefined;
  contextWindow: number | undefined;
  /** The `tools/call` of the running turn. What carries another id belongs to a turn that is over. */
  requestId: number | string | undefined;
  /** We cancelled it. */
  isCancelled: boolean;
  held: Held;
}

export function newState(options: Readonly<Record<string, unknown>>, threadId: string | undefined): McpState {
  return {
    includeRaw: options["include_raw_events"] === true,
    userEcho: options["user_echo"] === true,
    threadId,
    contextWindow: undefined,
    requestId: undefined,
    isCancelled: false,
    held: {},
  };
}

export function isTurnActive(state: McpState): boolean {
  return state.requestId !== undefined;
}

/** Codex writes the id of a call as a number in one place and as text in another. */
export function isOfTurn(state: McpState, requestId: unknown): boolean {
  return state.requestId !== undefined && String(requestId) === String(state.requestId);
}
