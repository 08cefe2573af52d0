// Gauges of the sessions, read from the table on demand.
import type { Metrics, Sample } from "../../base/metrics.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { SessionTable } from "../table.ts";

export function declareGauges(metrics: Metrics, table: SessionTable, ledger: Ledger): void {
  metrics.gauge(
    "blemees_sessions",
    "Sessions by backend and activity; those only in the store are stopped.",
    () => countSessions(table),
  );
  metrics.gauge("blemees_active_turns", "Running turns.", () => {
    return [...table.live.values()].filter(({ isTurnActive }) => isTurnActive).length;
  });
  metrics.gauge("blemees_pending_requests", "Requests waiting for an answer.", () => ledger.pending().length);
  metrics.gauge("blemees_queued_messages", "Messages waiting in queues.", () => {
    let queued = 0;
    for (const { queue } of table.rows()) queued += queue?.length ?? 0;
    return queued;
  });
  metrics.gauge("blemees_held_queues", "Sessions whose queue is held although their agent is free.", () => {
    return [...table.live.values()].filter(({ held }) => held !== undefined).length;
  });
}

function countSessions(table: SessionTable): Sample[] {
  const counts = new Map<string, Sample>();
  for (const { session_id, backend } of table.rows()) {
    const state = table.live.get(session_id)?.activity ?? "stopped";
    const key = `${backend} ${state}`;
    const sample = counts.get(key) ?? { value: 0, labels: { backend, state } };
    sample.value += 1;
    counts.set(key, sample);
  }
  return [...counts.values()];
}
