// A store that is still opening; calls wait for it. Lets the daemon listen before the disk is ready.
import type { Store } from "./types.ts";

export function createLateStore(opening: Promise<Store>, durable: boolean): Store {
  let store: Store | undefined;
  const opened = opening.then((ready) => {
    store = ready;
    return ready;
  });
  opened.catch(() => undefined); // reported by the code that opens it, and to every call
  return {
    durable,
    append: (order) => (store ? store.append(order) : opened.then((s) => s.append(order))),
    read: (id, after, max) =>
      store ? store.read(id, after, max) : opened.then((s) => s.read(id, after, max)),
    earliest: async (id) => (await opened).earliest(id),
    loadRow: async (id) => (await opened).loadRow(id),
    highestSeq: async (id) => (await opened).highestSeq(id),
    rows: async (filter) => (await opened).rows(filter),
    countRows: async () => (await opened).countRows(),
    kin: async (ids) => (await opened).kin(ids),
    saveRow: async (row) => (await opened).saveRow(row),
    requests: async (filter) => (await opened).requests(filter),
    ruleUses: async () => (await opened).ruleUses(),
    request: async (session_id, request_id) => (await opened).request(session_id, request_id),
    runMarks: async (ids) => (await opened).runMarks(ids),
    delete: async (id) => (await opened).delete(id),
    prune: async (limits) => (await opened).prune(limits),
    // A store that failed to open needs no closing.
    close: () =>
      opened.then(
        (s) => s.close(),
        () => undefined,
      ),
  };
}
