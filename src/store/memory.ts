// The store of `store = "memory"`: keeps no frames and no sessions, only the request ledger, until the process ends.
import type { RequestRow } from "../protocol/requests.ts";
import { compareAge, countUse, findCutoff, isOpen, matchesFilter, selectPage } from "./ledger.ts";
import type { RuleUses, Store } from "./types.ts";

/** Open rows are always kept; of settled ones, the newest. */
const MAX_SETTLED = 1_000;

export function createMemoryStore(): Store {
  const ledger = new Map<string, RequestRow>();
  const uses = new Map<string, RuleUses>();
  return {
    durable: false,
    append: async ({ batches, rows, requests = [] }) => {
      // Copies, here and below: later changes by callers must not reach the store.
      for (const row of requests) {
        countUse(uses, row, ledger.get(row.request_id));
        ledger.set(row.request_id, structuredClone(row));
      }
      if (requests.length > 0) dropOldest(ledger);
      return [...batches, ...rows, ...requests].map(() => undefined);
    },
    read: async () => undefined,
    earliest: async () => undefined,
    loadRow: async () => undefined,
    highestSeq: async () => 0,
    rows: async () => [],
    countRows: async () => ({}),
    kin: async (ids) => ids.map(() => ({ above: [], children: [] })),
    saveRow: async () => undefined,
    requests: async (filter) => {
      const found = [...ledger.values()].filter((row) => matchesFilter(row, filter));
      return structuredClone(selectPage(found, filter));
    },
    request: async (session_id, request_id) => {
      const row = ledger.get(request_id);
      return row?.session_id === session_id ? structuredClone(row) : undefined;
    },
    ruleUses: async () => [...uses.values()],
    // A mark says which output the stored frames cover, and no frame is stored.
    runMarks: async () => [],
    delete: async (session_id) => removeAll(ledger, (row) => row.session_id === session_id),
    prune: async (limits) => {
      const kept = findCutoff(limits, Date.now()) ?? Number.NEGATIVE_INFINITY;
      removeAll(ledger, (row) => row.requested_at_ms < kept && !isOpen(row));
      return { sessions: 0, events: 0, bytes: 0, over_total: 0 };
    },
    close: async () => undefined,
  };
}

function dropOldest(ledger: Map<string, RequestRow>): void {
  if (ledger.size <= MAX_SETTLED) return;
  const settled = [...ledger.values()].filter((row) => !isOpen(row)).sort(compareAge);
  for (const { request_id } of settled.slice(0, Math.max(0, settled.length - MAX_SETTLED)))
    ledger.delete(request_id);
}

function removeAll(ledger: Map<string, RequestRow>, isGone: (row: RequestRow) => boolean): void {
  for (const row of ledger.values()) if (isGone(row)) ledger.delete(row.request_id);
}
