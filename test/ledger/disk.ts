// The store as one daemon process sees it: it can fail, be slow, and stop in the middle of a write, as on a kill. It
// wraps a real store that outlives the daemon.
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { AppendOrder, AppendOutcome, Store } from "../../src/store/index.ts";
import { gate } from "../sessions/fakes.ts";

/** Where a write stops: before it is done, or done but not yet acknowledged. */
export type Halt = "unstored" | "stored";

export class Disk {
  readonly store: Store;
  failing = false;
  /** Requests whose payload is read back different from the one written. */
  readonly tampered = new Set<string>();
  /** Every state stored so far of every request, as `id status`. */
  readonly states = new Set<string>();
  #halt: { at: Halt; after: number; go: Promise<void>; open: () => void } | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  /** Halts writes after the next `after`. */
  halt(at: Halt, after = 0): void {
    const { open, passed } = gate();
    this.#halt = { at, after, go: passed, open };
  }

  release(): void {
    this.#halt?.open();
    this.#halt = undefined;
  }

  /** Where the next write stops, and what it waits for there. */
  next(): { at: Halt; go: Promise<void> } | undefined {
    if (this.#halt === undefined || this.#halt.after === 0) return this.#halt;
    this.#halt.after -= 1;
    return undefined;
  }
}

export interface Life {
  readonly store: Store;
  /** Calls in progress, except halted ones. */
  busy(): number;
  /** Ignores all further writes and replies. */
  cut(): void;
}

export function lifeOf(disk: Disk): Life {
  let isCut = false;
  let busy = 0;
  const { store } = disk;
  const never = new Promise<never>(() => undefined);

  async function call<T>(work: () => Promise<T>): Promise<T> {
    if (isCut) return never;
    busy += 1;
    try {
      const value = await work();
      return isCut ? await never : value;
    } finally {
      busy -= 1;
    }
  }

  async function stop(go: Promise<void>): Promise<void> {
    busy -= 1;
    await go;
    busy += 1;
    if (isCut) await never;
  }

  async function append(order: AppendOrder): Promise<AppendOutcome> {
    const halt = disk.next();
    if (halt?.at === "unstored") await stop(halt.go);
    const { requests = [] } = order;
    if (disk.failing) return [...order.batches, ...order.rows, ...requests].map(() => "disk full");
    const outcome = await store.append(order);
    for (const { request_id, status } of requests) disk.states.add(`${request_id} ${status}`);
    if (halt?.at === "stored") await stop(halt.go);
    return outcome;
  }

  /** A read takes one turn of the event loop, as it does from the store's thread. */
  async function request(session_id: string, request_id: string): Promise<RequestRow | undefined> {
    await new Promise((resolve) => setImmediate(resolve));
    const row = await store.request(session_id, request_id);
    if (row === undefined || !disk.tampered.has(request_id)) return row;
    return { ...row, payload: { ...row.payload, title: "something else" } };
  }

  return {
    store: {
      durable: true,
      append: (order) => call(() => append(order)),
      read: (session_id, after_seq, maxBytes) => call(() => store.read(session_id, after_seq, maxBytes)),
      earliest: (session_id) => call(() => store.earliest(session_id)),
      loadRow: (session_id) => call(() => store.loadRow(session_id)),
      highestSeq: (session_id) => call(() => store.highestSeq(session_id)),
      rows: (filter) => call(() => store.rows(filter)),
      countRows: () => call(() => store.countRows()),
      kin: (session_ids) => call(() => store.kin(session_ids)),
      saveRow: (row) => call(() => store.saveRow(row)),
      requests: (filter) => call(() => store.requests(filter)),
      request: (session_id, request_id) => call(() => request(session_id, request_id)),
      ruleUses: () => call(() => store.ruleUses()),
      runMarks: (session_ids) => call(() => store.runMarks(session_ids)),
      delete: (session_id) => call(() => store.delete(session_id)),
      prune: (limits) => call(() => store.prune(limits)),
      close: async () => undefined,
    },
    busy: () => busy,
    cut: () => {
      isCut = true;
    },
  };
}
