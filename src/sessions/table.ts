// The sessions in memory, and access to those only in the store. Loads and unloads them, one operation per id at a time,
// and enforces the limits.

import type { Backend } from "../backends/types.ts";
import { CodedError } from "../base/coded-error.ts";
import { KeyedLock } from "../base/keyed-lock.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Kin, RowFilter } from "../store/types.ts";
import { Extras } from "./agent/extras.ts";
import { refuseTool } from "./agent/tool-calls.ts";
import { unknownSessionError } from "./core/refusals.ts";
import { NO_KIN, Relatives } from "./family/relatives.ts";
import { noHooks } from "./hooks.ts";
import type { SpawnOrder } from "./manager-types.ts";
import { continueSeqs, createRow } from "./new-row.ts";
import { type RecoverParts, recoverOne } from "./recover.ts";
import { Session } from "./session.ts";
import type { CreateOrder, Obtained, RemoveOrder, TableOptions } from "./table-types.ts";
import type { OpenOrder } from "./types.ts";

export class SessionTable {
  /** Resolves when sessions are recovered; nothing is loaded before. */
  readonly ready: Promise<void>;
  readonly relatives = new Relatives();
  /** Held while a session is created, handed over or unloaded; later calls for that id wait. */
  readonly changing = new KeyedLock();
  readonly #options: TableOptions;
  readonly #log: Log;
  readonly #extras: Extras;
  readonly #live = new Map<string, Session>();
  /** The daemon is stopping: queues wait for its next start. */
  isQuiet = false;
  /** The daemon stops and leaves its agents to the next one: sessions no longer react to anything. */
  isAbandoned = false;
  /** Sessions being created, counted for the limit before their agent runs. */
  #starting = 0;
  #startup: Promise<void> | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#extras = options.extras ?? new Extras({ mcp: {}, env: {}, listTools: () => [] });
    this.#log = options.log;
    this.#startup = options.ready;
    void options.ready.then(
      () => {
        this.#startup = undefined;
      },
      () => undefined, // the waiting caller gets the error
    );
    this.ready = options.ready;
  }

  /** Pending while agents of an earlier daemon are being adopted: a session that is not live may still become so. */
  get startup(): Promise<void> | undefined {
    return this.#startup;
  }

  /** Resolves when the session is not being changed, and it is known whether it is live. */
  free(session_id: string): Promise<void> {
    const isFree = this.changing.free(session_id);
    return this.#startup === undefined ? isFree : isFree.then(() => this.#startup);
  }

  get live(): ReadonlyMap<string, Session> {
    return this.#live;
  }

  /** Of a session in memory. */
  row(session_id: string): SessionRow | undefined {
    return this.#live.get(session_id)?.row;
  }

  /** Of any session. */
  async find(session_id: string): Promise<SessionRow | undefined> {
    await this.ready;
    if (this.#live.has(session_id)) return this.row(session_id);
    const [found] = await this.select({ ids: [session_id] });
    return found ?? this.row(session_id);
  }

  /** Stored rows; those of sessions in memory are current. */
  async select(filter: RowFilter): Promise<SessionRow[]> {
    await this.ready;
    const rows = await this.#options.store.rows(filter);
    return rows.map((row) => this.row(row.session_id) ?? row);
  }

  /** These rows and those of all sessions in memory, by id. */
  withLive(stored: readonly SessionRow[]): Map<string, SessionRow> {
    // In the order in which they were added: siblings may have started in the same millisecond.
    const rows = new Map([...this.#live.values()].map(({ row }) => [row.session_id, row]));
    for (const row of stored) if (!rows.has(row.session_id)) rows.set(row.session_id, row);
    return rows;
  }

  /** Relatives by id. */
  async kin(session_ids: readonly string[]): Promise<Map<string, Kin>> {
    const cold = session_ids.filter((id) => !this.#live.has(id));
    const stored = cold.length === 0 ? [] : await this.#options.store.kin(cold);
    const found = new Map(cold.map((id, index) => [id, stored[index] ?? NO_KIN]));
    for (const id of session_ids) if (this.#live.has(id)) found.set(id, this.relatives.of(id));
    return found;
  }

  isAtWork(row: SessionRow): boolean {
    const isWaiting = (row.queue ?? []).length > 0 || (row.wakes ?? []).length > 0;
    return isWaiting || row.turn !== undefined || this.#live.get(row.session_id)?.isBusy === true;
  }

  /** By its name, or its name for session managers. */
  findBackend(name: string): Backend | undefined {
    const { backends } = this.#options;
    return backends.find((one) => one.name === name) ?? backends.find((one) => one.provider === name);
  }

  backend(name: string): Backend {
    const backend = this.findBackend(name);
    if (backend !== undefined) return backend;
    const known = this.#options.backends.map((candidate) => candidate.name).join(", ");
    throw new CodedError("unknown_backend", `unknown backend "${name}"; available: ${known}`);
  }

  /** Throws `invalid_message` if its agents cannot be given what the order wants. */
  checkExtras(backend: Backend, order: Pick<SpawnOrder, "mcp" | "manager">): void {
    this.#extras.check(backend, order);
  }

  /** A backend's name for session managers. One this daemon does not have keeps its own name. */
  provider(name: string): string {
    return this.#options.backends.find((one) => one.name === name)?.provider ?? name;
  }

  session(session_id: string): Session {
    const session = this.#live.get(session_id);
    if (session === undefined) throw unknownSessionError(session_id);
    return session;
  }

  /**
   * The live session of that id, or one loaded from the store. `open` is called synchronously, so that the session
   * counts as claimed before anyone else looks. `check` throws if a new session is not allowed. Requires the lock of its id.
   */
  async obtain<T>(
    backend: Backend,
    order: OpenOrder,
    open: (session: Session) => Promise<T>,
    check: () => void = () => undefined,
  ): Promise<Obtained<T>> {
    const { session_id } = order;
    await this.#startup; // its agent may have outlived an earlier daemon
    const live = this.#live.get(session_id);
    const claim = (session: Session): Obtained<T> => {
      const opening = open(session);
      opening.catch(() => undefined); // the receiver gets the error
      return { session, opening, isNew: session !== live };
    };
    if (live !== undefined) {
      if (!order.resume) throw exists(`session ${session_id} is open; pass resume: true to take it over`);
      if (live.row.backend !== backend.name) {
        throw exists(`session ${session_id} runs on backend "${live.row.backend}"`);
      }
      if (live.isKept) return claim(live);
      return this.withRoom(async (placed) => {
        const claimed = claim(live);
        placed();
        return claimed;
      });
    }
    return this.withRoom(async (placed) => {
      const { session, kin, isNew } = await this.#make(backend, order);
      if (isNew) check(); // others may have been created meanwhile
      this.#add(session, kin);
      const claimed = claim(session);
      placed();
      return claimed;
    });
  }

  /** The session of that id without an agent and an owner; throws if it is unknown. */
  async revive(session_id: string): Promise<Session> {
    await this.free(session_id);
    const live = this.#live.get(session_id);
    if (live !== undefined) return live;
    await this.ready;
    const release = await this.changing.lock(session_id);
    try {
      const since = this.#live.get(session_id);
      if (since !== undefined) return since;
      const row = await this.find(session_id);
      if (row === undefined) throw unknownSessionError(session_id);
      const order = { session_id, backend: row.backend, resume: true, options: row.options };
      const { session, kin } = await this.#make(this.backend(row.backend), order, Date.now());
      this.#add(session, kin);
      return session;
    } finally {
      release();
    }
  }

  /** Runs `use` with the session that `revive` returns, never with one that is being closed. */
  async use<T>(session_id: string, work: (session: Session) => T | Promise<T>): Promise<T> {
    let closing: Session | undefined;
    for (;;) {
      const session = await this.revive(session_id);
      // It started to close meanwhile. Its id is locked for that, so the next one is a new object.
      if (!session.isClosed || session === closing) return work(session);
      closing = session;
    }
  }

  /** A new session with its agent running. If that fails, it never existed. Requires the lock of its id. */
  async create(backend: Backend, row: SessionRow, { check, past = [] }: CreateOrder): Promise<Session> {
    const { store, publisher } = this.#options;
    const [highestSeq, kin] = await Promise.all([store.highestSeq(row.session_id), this.#loadKin(row)]);
    continueSeqs(row, highestSeq);
    const { session, beginning } = await this.withRoom(async (placed) => {
      check(); // others may have been created while waiting for a slot
      const made = new Session(row, { ...this.#context(), backend }, Date.now());
      this.#add(made, kin);
      if (past.length > 0) publisher.publishPast(made.stream, past);
      const begun = made.begin();
      placed();
      begun.catch(() => undefined); // awaited below
      return { session: made, beginning: begun };
    });
    try {
      await beginning;
      return session;
    } catch (error) {
      await this.unmake(session, "spawn_failed", { isForgotten: true });
      if (past.length > 0) await store.delete(row.session_id);
      throw error;
    }
  }

  /** A session whose agent outlived the daemon; the agent follows. */
  addAdopted(backend: Backend, row: SessionRow, kin: Kin): Session {
    const session = new Session(row, { ...this.#context(), backend }, Date.now());
    this.#add(session, kin);
    return session;
  }

  async remove(session: Session, reason: string, how: RemoveOrder): Promise<boolean> {
    const release = await this.changing.lock(session.row.session_id);
    try {
      return await this.unmake(session, reason, how);
    } finally {
      release();
    }
  }

  /** Requires the lock of the session's id. */
  async unmake(session: Session, reason: string, how: RemoveOrder): Promise<boolean> {
    const { session_id } = session.row;
    let isClosed = true;
    try {
      isClosed = await session.close(reason, how.if);
      if (isClosed) await how.afterwards?.();
    } catch (error) {
      this.#unload(session, false);
      throw error;
    }
    if (!isClosed) return false;
    this.#unload(session, how.isForgotten === true);
    this.#log.info("session.close", { session_id, reason });
    return true;
  }

  #unload(session: Session, isForgotten: boolean): void {
    const { row } = session;
    if (this.#live.get(row.session_id) !== session) return;
    this.#live.delete(row.session_id);
    if (isForgotten || !this.#options.store.durable) this.relatives.forget(row);
    else this.relatives.unload(row);
    this.#options.hooks?.onUnloaded(row, isForgotten);
  }

  /** Ends the session, if it is in memory, and forgets it; `afterwards` removes it from the store. */
  async erase(session_id: string, reason: string, afterwards: () => Promise<void>): Promise<void> {
    const release = await this.changing.lock(session_id);
    try {
      const live = this.#live.get(session_id);
      if (live !== undefined) await this.unmake(live, reason, { isForgotten: true, afterwards });
      else {
        const row = await this.find(session_id);
        await afterwards();
        if (row !== undefined) this.relatives.forget(row);
      }
    } finally {
      release();
    }
  }

  /**
   * Runs an operation that needs a session slot: with an agent, or with a client that may start one at any time. If
   * none is free, the longest idle agent is stopped; its session starts it again when needed. Throws if none is idle.
   * `placed` is called when the session itself is counted.
   */
  async withRoom<T>(work: (placed: () => void) => Promise<T>): Promise<T> {
    // Checked and taken in one step: several calls may run at once.
    while (this.#busy >= this.#options.limits.maxSessions) await this.#letOneRest();
    this.#starting += 1;
    let isPlaced = false;
    const onPlaced = () => {
      if (!isPlaced) this.#starting -= 1;
      isPlaced = true;
    };
    try {
      return await work(onPlaced);
    } finally {
      onPlaced();
    }
  }

  async #letOneRest(): Promise<void> {
    const idle = [...this.#live.values()]
      .filter(({ row, isRunning, restSinceMs }) => {
        return row.managed === true && isRunning && restSinceMs !== undefined;
      })
      .sort((a, b) => (a.restSinceMs ?? 0) - (b.restSinceMs ?? 0));
    // One that became busy meanwhile stays.
    for (const session of idle) if (await session.rest()) return;
    throw exists(
      `${this.#busy} sessions are open, the limit (max_concurrent_sessions); close or stop one first`,
    );
  }

  get #busy(): number {
    let busy = this.#starting;
    for (const { isCounted } of this.#live.values()) if (isCounted) busy += 1;
    return busy;
  }

  #add(session: Session, kin: Kin): void {
    this.#live.set(session.row.session_id, session);
    this.relatives.add(session.row, kin);
    this.#options.hooks?.onLoaded(session);
  }

  /** Of a session that is not stored yet. It may have children: of one of that id that was deleted. */
  async #loadKin({ session_id, parent }: SessionRow): Promise<Kin> {
    const kin = await this.kin(parent === undefined ? [session_id] : [session_id, parent]);
    const above = parent === undefined ? [] : [parent, ...(kin.get(parent)?.above ?? [])];
    return { above, children: kin.get(session_id)?.children ?? [] };
  }

  #context() {
    const { hooks = noHooks, inputChanged = () => undefined } = this.#options;
    return {
      ...this.#options,
      callTool: this.#options.callTool ?? refuseTool,
      hooks,
      inputChanged,
      withRoom: (start: () => Promise<void>) => this.withRoom(start),
      isQuiet: () => this.isQuiet,
      isAbandoned: () => this.isAbandoned,
    };
  }

  async #make(
    backend: Backend,
    order: OpenOrder,
    left_at_ms?: number,
  ): Promise<{ session: Session; kin: Kin; isNew: boolean }> {
    await this.#options.ready;
    const { store } = this.#options;
    const { session_id } = order;
    const [found, highestSeq, lost, [kin = NO_KIN]] = await Promise.all([
      store.loadRow(session_id),
      store.highestSeq(session_id),
      store.requests({ session_id, open: true }),
      store.kin([session_id]),
    ]);
    // Left by a daemon or session that ended while writes failed.
    const isCut =
      found !== undefined && (found.turn !== undefined || found.lost_after !== undefined || lost.length > 0);
    if (found?.lost_after !== undefined) this.#log.warn("session.history_lost", { session_id, count: 1 });
    const { publisher, hooks = noHooks } = this.#options;
    const { ratesOf } = this.#options;
    const turnEnded: RecoverParts["turnEnded"] = (...end) => hooks.onTurnEnd(...end);
    const parts: RecoverParts = { store, publisher, turnEnded, ...defined({ ratesOf }) };
    const stored = isCut ? await recoverOne(found, lost, parts) : found;
    if (stored !== undefined && stored.backend !== backend.name) {
      throw exists(`session ${session_id} was created with backend "${stored.backend}"`);
    }
    const row = stored ?? continueSeqs(createRow(order, Date.now()), highestSeq);
    // A new conversation does not continue where an earlier one stopped.
    if (!order.resume) delete row.native_session_id;
    const own = stored === undefined && row.parent !== undefined ? await this.#loadKin(row) : kin;
    if (stored === undefined) Object.assign(row, defined({ root: own.above.at(-1) }));
    const session = new Session(row, { ...this.#context(), backend }, left_at_ms);
    return { session, kin: own, isNew: stored === undefined };
  }
}

export function exists(message: string): CodedError {
  return new CodedError("session_exists", message);
}
