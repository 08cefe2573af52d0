// What a backend is told when a session's agent is started.
import type { StartOrder } from "../../backends/types.ts";
import type { SessionRow } from "../../protocol/session.ts";

type How = Pick<StartOrder, "resume" | "options" | "env" | "log">;

export function startOrder(row: SessionRow, how: How): StartOrder {
  const { session_id, native_session_id, began_here, started_at_ms } = row;
  return {
    session_id,
    ...(native_session_id === undefined ? {} : { native_session_id }),
    began_here,
    started_at_ms,
    ...how,
    env: { ...how.env, BLEMEES_SESSION_ID: session_id },
  };
}
