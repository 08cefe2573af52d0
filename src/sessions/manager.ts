// Implements the manager (manager-types.ts): spawn, view, send, wait, stop. Sessions have no owner here. A session that
// is not in memory is loaded from the store first, without its agent.

import { CodedError, toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { Observer } from "../observe/types.ts";
import type { Action } from "../protocol/actions.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../protocol/changes.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Stats } from "../protocol/stats.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../protocol/views.ts";
import type { Store } from "../store/types.ts";
import type { Checkpoints } from "./checkpoints/checkpoints.ts";
import { showChangesOf, showFileChangesOf, undoTurns } from "./checkpoints/for-manager.ts";
import { toWaiting, unknownSessionError, waitingError } from "./core/refusals.ts";
import type { Family } from "./family/family.ts";
import { listDescendants } from "./family/kin.ts";
import type { SessionHooks } from "./hooks.ts";
import type {
  EventsOrder,
  InputOrder,
  Manager,
  SpawnOrder,
  StatsOrder,
  ViewFilter,
  ViewsPage,
  WaitOrder,
} from "./manager-types.ts";
import type { Responded } from "./requests/frames.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { RespondOrder } from "./requests/types.ts";
import { askToSpawn } from "./rights/ask-to-spawn.ts";
import type { Caller } from "./rights/caller.ts";
import type { Escalation } from "./rights/ceiling.ts";
import { GuardedManager } from "./rights/guarded-manager.ts";
import type { ChildRights, Rights } from "./rights/rights.ts";
import type { Receipt, Session } from "./session.ts";
import { spawnSession, toOptions } from "./spawn.ts";
import type { SessionTable } from "./table.ts";
import type { Client, RequestsFilter, RequestsPage, Subscriber } from "./types.ts";
import type { Changes } from "./views/changes.ts";
import { readEvents } from "./views/events-page.ts";
import { settleStats } from "./views/stats.ts";
import { settleAction } from "./views/view.ts";
import type { Views } from "./views/views.ts";
import { type WaitState, waitFor } from "./views/wait.ts";

export interface ManagerParts {
  table: SessionTable;
  ledger: Ledger;
  store: Store;
  observer: Observer;
  family: Family;
  changes: Changes;
  views: Views;
  rights: Rights;
  /** Absent: turned off. */
  checkpoints: Checkpoints | undefined;
  /** Throws `notify_not_allowed`. */
  checkNotifyUrl(url: string): void;
  removed: SessionHooks["onRemoved"];
  log: Log;
}

export class SessionManager implements Manager {
  readonly #parts: ManagerParts;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
  }

  async spawn(order: SpawnOrder): Promise<{ session: SessionView; message_id?: string; repeated: boolean }> {
    const { table, family, views, changes, log } = this.#parts;
    if (order.notify_url !== undefined) this.#parts.checkNotifyUrl(order.notify_url);
    const { session_id, ...spawned } = await spawnSession(order, {
      table,
      checkParent: (parent) => family.checkSpawn(parent),
    });
    changes.markChanged(session_id);
    if (order.parent !== undefined) changes.markChanged(order.parent);
    const { repeated } = spawned;
    log.info("session.spawn", { session_id, backend: order.backend, parent: order.parent, repeated });
    return { session: await views.of(session_id), ...spawned };
  }

  async views(filter: ViewFilter): Promise<ViewsPage> {
    await this.#parts.table.ready;
    return this.#parts.views.list(filter);
  }

  async view(session_id: string): Promise<SessionView> {
    await this.#parts.table.ready;
    return this.#parts.views.of(session_id);
  }

  async family(session_id: string): Promise<{ depth: number; session: SessionView }[]> {
    await this.#loadRow(session_id);
    return this.#parts.views.family(session_id);
  }

  async rename(session_id: string, name: string | null): Promise<SessionView> {
    await this.#parts.table.use(session_id, (session) => session.rename(name));
    this.#parts.changes.markChanged(session_id);
    return this.#parts.views.of(session_id);
  }

  input(order: InputOrder): Promise<Receipt> {
    return this.#parts.table.use(order.session_id, (session) => this.#input(session, order));
  }

  async #input(session: Session, order: InputOrder): Promise<Receipt> {
    const { session_id, message, now = false, key, from } = order;
    const isKnown = key !== undefined && session.row.inputs?.some((record) => record.key === key);
    const [waiting] = this.#parts.ledger.listPending(session_id);
    const { turn } = session.row;
    // A pending request blocks new messages. Interrupting withdraws it, and a repeated call changes nothing.
    const isTakenAway = now && turn !== undefined;
    if (waiting !== undefined && !isTakenAway && isKnown !== true) throw waitingError(toWaiting(waiting));
    const receipt = await session.enqueue({
      message,
      kind: "user",
      isFirst: now,
      ...defined({ key, from }),
    });
    // Not the turn that this message has just started.
    const isStillRunning = turn !== undefined && session.row.turn?.turn_id === turn.turn_id;
    if (now && !receipt.repeated && isStillRunning) await this.interrupt(session_id, from);
    return receipt;
  }

  async queue(
    session_id: string,
  ): Promise<{ queued: QueuedMessage[]; recent: InputRecord[]; held?: string }> {
    const row = await this.#loadRow(session_id);
    const held = this.#parts.table.live.get(session_id)?.held;
    const recent = (row.inputs ?? []).filter(({ state }) => state !== "queued").toReversed();
    return { queued: row.queue ?? [], recent, ...defined({ held }) };
  }

  async cancelInput(session_id: string, message_id: string): Promise<InputRecord> {
    return this.#parts.table.use(session_id, (session) => session.cancel(message_id));
  }

  async interrupt(session_id: string, by?: string): Promise<{ was_idle: boolean }> {
    await this.#loadRow(session_id);
    const session = this.#parts.table.live.get(session_id);
    if (session === undefined) return { was_idle: true };
    this.#parts.family.noteStop(session_id, by);
    let was_idle = true;
    await session.interrupt(undefined, (isIdle) => {
      was_idle = isIdle;
    });
    return { was_idle };
  }

  async stop(session_id: string, { tree, by }: { tree: boolean; by?: string }): Promise<string[]> {
    const ids = await this.#withTree(session_id, tree);
    // Parents first: a stopped manager is not woken by its children's end and spawns no new ones.
    for (const id of ids) {
      this.#parts.family.noteStop(id, by);
      await this.#parts.table.use(id, (session) =>
        session.halt({ isAsked: by !== undefined && session.row.parent === by }),
      );
      this.#parts.log.info("session.stopped", { session_id: id, by });
    }
    return ids;
  }

  async remove(session_id: string, { tree, by }: { tree: boolean; by?: string }): Promise<string[]> {
    const ids = await this.#withTree(session_id, tree);
    for (const id of ids) await this.#removeOne(id, by);
    return ids;
  }

  async events(order: EventsOrder): Promise<EventsPage> {
    const { stream } = await this.#parts.table.revive(order.session_id);
    return readEvents({ stream, store: this.#parts.store }, order);
  }

  async watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    since_seq: number | undefined,
  ): ReturnType<Manager["watch"]> {
    const session = await this.#parts.table.revive(session_id);
    const attachment = session.watch(client, subscriber, since_seq);
    const { last_seq, lostAfter } = session.stream;
    const hasLost = lostAfter !== undefined && lostAfter >= (since_seq ?? last_seq);
    return { last_seq, hasLost, attachment, end: () => attachment.end() };
  }

  async wait(order: WaitOrder): Promise<WaitReply> {
    await this.#loadRow(order.session_id);
    const { changes, views } = this.#parts;
    return waitFor(order, {
      changes,
      state: (session_id) => this.#waitState(session_id),
      view: (session_id) => views.of(session_id),
    });
  }

  async respond(order: RespondOrder): Promise<Responded> {
    await this.#loadRow(order.session_id);
    const session = this.#parts.table.live.get(order.session_id);
    return session === undefined ? this.#parts.ledger.respond(order) : session.respond(undefined, order);
  }

  async requests({ tree, ...filter }: RequestsFilter & { tree?: boolean }): Promise<RequestsPage> {
    await this.#parts.table.ready;
    const { session_id } = filter;
    if (session_id !== undefined) await this.#loadRow(session_id);
    if (tree !== true || session_id === undefined) return this.#parts.ledger.list(filter);
    const { session_id: _root, ...rest } = filter;
    const ids = new Set(await this.#withTree(session_id, true));
    return this.#parts.ledger.list({ ...rest, session_ids: ids });
  }

  async request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    await this.#parts.table.ready;
    return this.#parts.ledger.find(session_id, request_id);
  }

  async actions(session_id: string, limit: number): Promise<Action[]> {
    await this.#loadRow(session_id);
    const actions = await this.#parts.observer.actions({ session_id, limit });
    const view = await this.#parts.views.of(session_id);
    return actions.map((action) => settleAction(action, view));
  }

  async stats({ session_id, ...order }: StatsOrder): Promise<Stats> {
    const { table, observer } = this.#parts;
    await table.ready;
    if (session_id !== undefined) await this.#loadRow(session_id);
    const scope = defined({ session_id });
    const until_ms = Date.now();
    const [observed, { requests: pending }] = await Promise.all([
      observer.stats({ ...order, ...scope }),
      this.requests({ ...scope, limit: order.limit }),
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

  async changes(session_id: string, order: Parameters<Manager["changes"]>[1]): Promise<ChangesReply> {
    return showChangesOf(this.#parts.checkpoints, await this.#loadRow(session_id), order);
  }

  async fileChanges(
    session_id: string,
    order: Parameters<Manager["fileChanges"]>[1],
  ): Promise<FileChangesReply> {
    return showFileChangesOf(this.#parts.checkpoints, await this.#loadRow(session_id), order);
  }

  async undo(session_id: string, order: UndoBody): Promise<UndoReply> {
    return undoTurns(this.#parts.checkpoints, await this.#loadRow(session_id), order);
  }

  onChange(listener: (change: ChangeView) => void): () => void {
    return this.#parts.changes.subscribe(listener);
  }

  async describeSpawn(order: SpawnOrder): Promise<ChildRights> {
    const backend = this.#parts.table.backend(order.backend);
    const parent = order.parent === undefined ? undefined : await this.#parts.table.find(order.parent);
    const options = toOptions(backend, order, parent?.cwd);
    return { backend: backend.name, options, may_answer: order.may_answer === true };
  }

  askToSpawn(order: SpawnOrder & { parent: string }, escalation: Escalation): Promise<never> {
    const { table, ledger, log } = this.#parts;
    const session = table.live.get(order.parent);
    return askToSpawn(order, escalation, {
      ...{ session, ledger, log },
      spawn: (accepted) => this.spawn(accepted),
      report: (text) => this.#parts.family.report(order.parent, text),
    });
  }

  as(caller: Caller): Manager {
    return new GuardedManager(this, caller, this.#parts.rights);
  }

  /** Calls from this process are a person's. */
  requirePerson(): void {}

  /** At daemon start: continues queues and wakes. */
  async resume(): Promise<void> {
    const { table, family, log } = this.#parts;
    let unfinished: SessionRow[];
    try {
      unfinished = [...table.withLive(await table.select({ unfinished: true })).values()];
    } catch (error) {
      log.error("session.resume_failed", { message: toMessage(error) });
      return;
    }
    family.resume(unfinished);
    for (const { session_id, queue } of unfinished) {
      if (queue === undefined || queue.length === 0) continue;
      await table.revive(session_id).then(
        (session) => session.goOn(),
        (error: Error) => log.error("session.resume_failed", { session_id, message: error.message }),
      );
    }
  }

  async #loadRow(session_id: string): Promise<SessionRow> {
    const row = await this.#parts.table.find(session_id);
    if (row === undefined) throw unknownSessionError(session_id);
    return row;
  }

  #waitState(session_id: string): WaitState | undefined | Promise<WaitState | undefined> {
    const { table } = this.#parts;
    const row = table.row(session_id);
    if (row !== undefined) return this.#toWaitState(row);
    return table
      .find(session_id)
      .then((found) => (found === undefined ? undefined : this.#toWaitState(found)));
  }

  #toWaitState(row: SessionRow): WaitState {
    const { table, ledger } = this.#parts;
    const { session_id } = row;
    const session = table.live.get(session_id);
    const pending = ledger.listPending(session_id).length;
    return {
      row,
      isTurnActive: session?.isTurnActive === true,
      isRunning: session?.isRunning === true,
      isBusy: session?.isBusy === true || (pending === 0 && session?.isAsking === true),
      isSettling: session?.isSettling === true,
      pending,
    };
  }

  async #withTree(session_id: string, tree: boolean): Promise<string[]> {
    await this.#loadRow(session_id);
    if (!tree) return [session_id];
    const { table } = this.#parts;
    const rows = table.withLive(await table.select({ family: session_id }));
    const below = listDescendants(session_id, rows.values());
    return [session_id, ...below.map(({ row }) => row.session_id)];
  }

  async #removeOne(session_id: string, by: string | undefined): Promise<void> {
    const { table, store, removed } = this.#parts;
    const row = await table.find(session_id);
    const isAtWork = row !== undefined && table.isAtWork(row);
    const erase = () => {
      return store.delete(session_id).catch((cause: unknown) => {
        throw new CodedError("store_failed", "could not be stored; the session was not deleted", {
          cause,
        });
      });
    };
    try {
      await table.erase(session_id, "deleted", erase);
    } catch (error) {
      // Its agent was stopped, but its queue still has messages.
      void table.revive(session_id).then(
        (session) => session.goOn(),
        () => undefined,
      );
      throw error;
    }
    if (row !== undefined) removed(row, isAtWork, by);
  }
}
