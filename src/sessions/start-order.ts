// What a backend is told when a session's agent is started, and what the agent tells of itself then.
import type { StartOrder } from "../backends/types.ts";
import type { SystemInitEvent } from "../protocol/events.ts";
import type { SessionRow } from "../protocol/session.ts";

export function startOrder(row: SessionRow, how: Pick<StartOrder, "resume" | "env" | "log">): StartOrder {
  const { session_id, native_session_id, began_here, options, started_at_ms } = row;
  return {
    session_id,
    ...(native_session_id === undefined ? {} : { native_session_id }),
    began_here,
    options,
    started_at_ms,
    ...how,
    env: { ...how.env, BLEMEES_SESSION_ID: session_id },
  };
}

export function noteInit(row: SessionRow, event: SystemInitEvent): void {
  if (event.model !== undefined) row.model = event.model;
  if (event.cwd !== undefined) row.cwd ??= event.cwd;
  const rollout = event.capabilities?.["rollout_path"];
  if (typeof rollout === "string") row.rollout_path = rollout;
}
