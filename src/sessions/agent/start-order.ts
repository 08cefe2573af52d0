// Input of a backend for starting a session's agent.

import type { StartOrder } from "../../backends/types.ts";
import { defined } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";

type How = Pick<StartOrder, "resume" | "options" | "generation" | "env" | "log">;

export function startOrder(row: SessionRow, how: How): StartOrder {
  const { session_id, native_session_id, began_here, started_at_ms } = row;
  return {
    session_id,
    ...defined({ native_session_id }),
    began_here,
    started_at_ms,
    ...how,
    env: { ...how.env, BLEMEES_SESSION_ID: session_id },
  };
}
