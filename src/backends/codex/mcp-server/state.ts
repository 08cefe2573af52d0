// The translator's state of one `codex mcp-server` process, and its reports. Plain data; changed only by the pure files
// next to it.
import type { RpcId } from "../../../base/jsonrpc.ts";
import type { AgentEvent, ResultEvent } from "../../../protocol/events.ts";

/** In the order in which the sink must get them. */
export type McpReport =
  | { kind: "event"; event: AgentEvent }
  | { kind: "auth_failed"; message: string }
  | { kind: "native_id"; id: string };

/** Parts of the turn's result received so far; it has the daemon's turn id, not Codex's own. */
export interface Held extends Pick<ResultEvent, "duration_ms" | "time_to_first_token_ms" | "usage"> {
  native_turn_id?: string;
  /** Codex reported a login failure in structured form. */
  isAuth?: boolean;
}

export interface McpState {
  readonly includeRaw: boolean;
  readonly userEcho: boolean;
  threadId: string | undefined;
  contextWindow: number | undefined;
  /** The `tools/call` of the running turn. Other ids belong to finished turns. */
  requestId: RpcId | undefined;
  /** We cancelled it. */
  isCancelled: boolean;
  held: Held;
  /** Pending approvals, by our id for them. */
  readonly asks: Map<string, RpcId>;
}

export function createState(
  options: Readonly<Record<string, unknown>>,
  threadId: string | undefined,
): McpState {
  return {
    includeRaw: options["include_raw_events"] === true,
    userEcho: options["user_echo"] === true,
    threadId,
    contextWindow: undefined,
    requestId: undefined,
    isCancelled: false,
    held: {},
    asks: new Map(),
  };
}

/** Codex's own conversation id, the first time it appears. */
export function followThread(state: McpState, id: string | undefined): McpReport[] {
  if (id === undefined || id === state.threadId) return [];
  state.threadId = id;
  return [{ kind: "native_id", id }];
}

/** Codex writes the id of a call as a number in one place and as a string in another. */
export function isOfTurn(state: McpState, requestId: unknown): boolean {
  return state.requestId !== undefined && String(requestId) === String(state.requestId);
}
