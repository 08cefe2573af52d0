// The store of `store = "memory"` (DESIGN R1): keeps nothing, so the ring is all there is.
import type { Store } from "./types.ts";

export function createMemoryStore(): Store {
  return {
    durable: false,
    append: async (order) => [...order.batches, ...order.rows].map(() => undefined),
    read: async () => undefined,
    loadRow: async () => undefined,
    rows: async () => [],
    saveRow: async () => undefined,
    delete: async () => undefined,
    prune: async () => ({ sessions: 0, events: 0, bytes: 0 }),
    close: async () => undefined,
  };
}
