// The translator's state of one `codex mcp-server` process, and its reports. Plain data; changed only by translate.ts
// and the files it calls.
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Usage } from "../../../protocol/usage.ts";

/** In the order in which the sink must get them. */
export type McpReport =
  | { kind: "event"; event: AgentEvent }
  | { kind: "auth_failed"; message: string }
  | { kind: "native_id"; id: string };

/** Parts of the turn's result received so far, except Codex's own turn id: the daemon assigns the id. */
export interface Held {
  native_turn_id?: string;
  duration_ms?: number;
  time_to_first_token_ms?: number;
  usage?: Usage;
  /** Codex reported a login failure in structured form. */
  isAuth?: boolean;
}

export interface McpState {
  readonly includeRaw: boolean;
  readonly userEcho: boolean;
  threadId: string | undefined;
  contextWindow: number | undefined;
  /** The `tools/call` of the running turn. Other ids belong to finished turns. */
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

/** Codex writes the id of a call as a number in one place and as a string in another. */
export function isOfTurn(state: McpState, requestId: unknown): boolean {
  return state.requestId !== undefined && String(requestId) === String(state.requestId);
}
