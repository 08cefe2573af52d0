// Input of a backend for starting a session's agent.

import type { StartOrder } from "../../backends/types.ts";
import { makeTraceparent } from "../../base/trace-ids.ts";
import { defined } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";

/** Set if traces are exported. */
const TRACES = "BLEMEES_TRACES";

type How = Pick<StartOrder, "resume" | "options" | "generation" | "env" | "log" | "mcp" | "tools">;

export function startOrder(row: SessionRow, how: How): StartOrder {
  const { session_id, native_session_id, began_here, started_at_ms, may_answer } = row;
  return {
    session_id,
    ...defined({ native_session_id }),
    began_here,
    started_at_ms,
    // It answers for others only if its process proves who it is.
    ...defined({ own_process: may_answer }),
    ...how,
    env: {
      ...how.env,
      BLEMEES_SESSION_ID: session_id,
      ...(how.env[TRACES] === undefined ? {} : { TRACEPARENT: makeTraceparent(row) }),
    },
  };
}
