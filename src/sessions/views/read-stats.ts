// Figures of what agents do over time: from the observer, the ledger and the sessions in memory.
import { defined } from "../../base/values.ts";
import type { Observer } from "../../observe/types.ts";
import type { Stats } from "../../protocol/stats.ts";
import type { Manager, StatsOrder } from "../manager-types.ts";
import type { SessionTable } from "../table.ts";
import { settleStats } from "./stats.ts";

export interface StatsParts {
  table: SessionTable;
  observer: Observer;
  requests: Manager["requests"];
}

export async function readStats(
  { session_id, ...order }: StatsOrder,
  { table, observer, requests }: StatsParts,
): Promise<Stats> {
  const scope = defined({ session_id });
  const until_ms = Date.now();
  const [observed, { requests: pending }] = await Promise.all([
    observer.stats({ ...order, ...scope }),
    requests({ ...scope, limit: order.limit }),
  ]);
  const rows = [...table.live.values()].map(({ row }) => row);
  const meant = rows.filter((row) => session_id === undefined || row.session_id === session_id);
  return settleStats(
    { since_ms: order.since_ms, until_ms, ...observed },
    {
      rows: new Map(meant.map((row) => [row.session_id, row])),
      toBackend: (provider) => table.findBackend(provider)?.name ?? provider,
      pending,
      limit: order.limit,
    },
  );
}
