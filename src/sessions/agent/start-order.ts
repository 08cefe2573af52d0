// What a backend is told when a session's agent is started.
import type { StartOrder } from "../../backends/types.ts";
import type { SessionRow } from "../../protocol/session.ts";

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
