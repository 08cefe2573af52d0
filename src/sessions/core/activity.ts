// The activity shown to clients, derived from the state and never stored next to it.
import { REQUEST_TYPES } from "../../protocol/requests.ts";
import type { ActivityState } from "../../protocol/session.ts";
import { type OpenRequest, type SessionState, turnOf } from "./state.ts";

export function activityOf(state: SessionState): ActivityState {
  const wants = wantsOf(state.requests);
  if (wants !== undefined) return wants === "permission" ? "waiting_permission" : "waiting_input";
  const turn = turnOf(state);
  if (turn !== undefined) return turn.isThinking ? "thinking" : "working";
  if (state.run === undefined) return "stopped";
  return state.phase.name === "starting" ? "starting" : "idle";
}

/** What the agent is waiting for; permissions take precedence. */
function wantsOf(requests: readonly OpenRequest[]): "permission" | "input" | undefined {
  const types = requests.flatMap(({ isShown, request_type }) =>
    isShown ? [REQUEST_TYPES[request_type]] : [],
  );
  return types.includes("permission") ? "permission" : types[0];
}
