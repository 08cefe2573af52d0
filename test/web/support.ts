// Sessions and statistics for tests of the page.
import type { FleetRow } from "../../src/client/view/fleet.ts";
import type { ToolStat, TurnStat } from "../../src/protocol/stats.ts";
import type { SessionView } from "../../src/protocol/views.ts";
import { aView } from "../client/session-views.ts";

export function sessionView(session_id: string, more: Partial<SessionView> = {}): SessionView {
  return aView({ session_id, turns: 0, ...more });
}

export function fleetRow(session_id: string, depth = 0, more: Partial<SessionView> = {}): FleetRow {
  const session = sessionView(session_id, more);
  return { session, depth, isWaiting: session.pending_requests > 0 };
}

export function turnStat(started_at_ms: number, more: Partial<TurnStat> = {}): TurnStat {
  return { session_id: "s", backend: "demo", started_at_ms, status: "success", ...more };
}

export function toolStat(
  tool: string,
  latency_ms: number | undefined,
  more: Partial<ToolStat> = {},
): ToolStat {
  const timed = latency_ms === undefined ? {} : { latency_ms };
  return { session_id: "s", tool, started_at_ms: 0, status: "success", ...timed, ...more };
}
