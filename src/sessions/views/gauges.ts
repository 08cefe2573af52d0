// Gauges of the sessions, read from the table on demand.
import type { Metrics, Sample } from "../../base/metrics.ts";
import type { Store } from "../../store/types.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { SessionTable } from "../table.ts";

export interface Counted {
  table: SessionTable;
  ledger: Ledger;
  store: Store;
}

export function declareGauges(metrics: Metrics, counted: Counted): void {
  const { table, ledger } = counted;
  let sessions: Sample[] = [];
  let queued = 0;
  metrics.beforeScrape(async () => {
    [sessions, queued] = await Promise.all([countSessions(counted), countQueued(table)]);
  });
  metrics.gauge(
    "blemees_sessions",
    "Sessions by backend and activity; sessions only in the store count as stopped.",
    () => sessions,
  );
  metrics.gauge("blemees_active_turns", "Running turns.", () => {
    return [...table.live.values()].filter(({ isTurnActive }) => isTurnActive).length;
  });
  metrics.gauge("blemees_pending_requests", "Requests waiting for an answer.", () => ledger.pending().length);
  metrics.gauge("blemees_queued_messages", "Messages waiting in queues.", () => queued);
  metrics.gauge("blemees_held_queues", "Sessions whose queue is held although their agent is free.", () => {
    return [...table.live.values()].filter(({ held }) => held !== undefined).length;
  });
}

async function countQueued(table: SessionTable): Promise<number> {
  let queued = 0;
  const rows = table.withLive(await table.select({ unfinished: true }));
  for (const { queue } of rows.values()) queued += queue?.length ?? 0;
  return queued;
}

async function countSessions({ table, store }: Counted): Promise<Sample[]> {
  await table.ready;
  // Of the stored ones, those in memory are counted by their activity.
  const [stored, inBoth] = await Promise.all([
    store.countRows(),
    store.rows({ ids: [...table.live.keys()] }),
  ]);
  const counts = new Map<string, Sample>();
  const add = (backend: string, state: string, by: number) => {
    const key = `${backend} ${state}`;
    const sample = counts.get(key) ?? { value: 0, labels: { backend, state } };
    sample.value += by;
    counts.set(key, sample);
  };
  for (const [backend, count] of Object.entries(stored)) add(backend, "stopped", count);
  for (const { backend, session_id } of inBoth) if (table.live.has(session_id)) add(backend, "stopped", -1);
  for (const { row, activity } of table.live.values()) add(row.backend, activity, 1);
  return [...counts.values()].filter(({ value }) => value > 0);
}
