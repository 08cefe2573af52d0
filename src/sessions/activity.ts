// What a session is doing, as a pure reducer. `waiting_*` come from the request ledger.
import type { AgentEvent } from "../protocol/events.ts";
import { REQUEST_TYPES, type RequestRow } from "../protocol/requests.ts";
import type { ActivityState } from "../protocol/session.ts";

export type ActivityInput =
  | { kind: "turn_started" }
  /** The message did not reach the agent, so its turn never was. */
  | { kind: "turn_forgotten" }
  | { kind: "event"; event: AgentEvent }
  /** What the agent waits for, if for anything. */
  | { kind: "requests"; wants: "permission" | "input" | undefined; isTurnActive: boolean }
  | { kind: "run_starting" }
  | { kind: "run_started" }
  | { kind: "run_ended" };

export function nextActivity(state: ActivityState, input: ActivityInput): ActivityState {
  switch (input.kind) {
    case "turn_started":
      return "working";
    case "turn_forgotten":
      return "idle";
    case "requests":
      return afterRequests(state, input);
    case "run_starting":
      return state === "stopped" ? "starting" : state;
    case "run_started":
      return state === "stopped" || state === "starting" ? "idle" : state;
    case "run_ended":
      return "stopped";
    case "event":
      return afterEvent(state, input.event);
  }
}

function afterRequests(state: ActivityState, input: ActivityInput & { kind: "requests" }): ActivityState {
  if (input.wants !== undefined) return input.wants === "permission" ? "waiting_permission" : "waiting_input";
  if (state !== "waiting_permission" && state !== "waiting_input") return state;
  return input.isTurnActive ? "working" : "idle";
}

function afterEvent(state: ActivityState, event: AgentEvent): ActivityState {
  if (event.type === "agent.result") return "idle";
  // Only a running turn moves between working and thinking; a late event wakes nobody.
  if (state !== "working" && state !== "thinking") return state;
  if (event.type === "agent.delta") return event.kind === "thinking" ? "thinking" : "working";
  if (event.type === "agent.notice") return state;
  return "working";
}

/** What the agent waits for: a permission before anything else. */
export function wantsOf(pending: readonly RequestRow[]): "permission" | "input" | undefined {
  const types = pending.map(({ request_type }) => REQUEST_TYPES[request_type]);
  return types.includes("permission") ? "permission" : types[0];
}
