// The activity shown to clients, derived from the state and never stored next to it.
import { REQUEST_TYPES } from "../../protocol/requests.ts";
import type { ActivityState } from "../../protocol/session.ts";
import { getTurn, isSettling, isWaitingQuota, type OpenRequest, type SessionState } from "./state.ts";

export function deriveActivity(state: SessionState): ActivityState {
  const wants = findWanted(state.requests);
  if (wants !== undefined) return wants === "permission" ? "waiting_permission" : "waiting_input";
  const turn = getTurn(state);
  if (turn !== undefined) return turn.isThinking ? "thinking" : "working";
  // A client that sees the turn's end finds its result in the history.
  if (isSettling(state)) return "working";
  if (state.budget?.isAsking === true) return "waiting_permission";
  if (state.phase.name !== "starting" && isWaitingQuota(state)) return "waiting_quota";
  if (state.run === undefined) return "stopped";
  return state.phase.name === "starting" ? "starting" : "idle";
}

/** What the agent is waiting for; permissions take precedence. */
function findWanted(requests: readonly OpenRequest[]): "permission" | "input" | undefined {
  const types = requests.flatMap(({ isShown, request_type }) =>
    isShown ? [REQUEST_TYPES[request_type]] : [],
  );
  return types.includes("permission") ? "permission" : types[0];
}
