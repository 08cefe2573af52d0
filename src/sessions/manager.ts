// Implements the manager (manager-types.ts): spawn, view, send, wait, stop. Sessions have no owner here. A session that
// is not in memory is loaded from the store first, without its agent.

import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { Observer } from "../observe/types.ts";
import type { Action } from "../protocol/actions.ts";
import type { Budget } from "../protocol/budget.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../protocol/changes.ts";
import type { FilesReply } from "../protocol/files.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { QuotaBody, QuotaReply } from "../protocol/quota.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SearchReply } from "../protocol/search.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { SettingsChange, SettingsReply } from "../protocol/settings.ts";
import type { Stats } from "../protocol/stats.ts";
import type { UsageReply } from "../protocol/usage-report.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../protocol/views.ts";
import type { Store } from "../store/types.ts";
import type { Budgets } from "./budget/budgets.ts";
import type { Checkpoints } from "./checkpoints/checkpoints.ts";
import { showChangesOf, showFileChangesOf, undoTurns } from "./checkpoints/for-manager.ts";
import { toWaiting, unknownSessionError, waitingError } from "./core/refusals.ts";
import type { Family } from "./family/family.ts";
import { listDescendants } from "./family/kin.ts";
import type { FileFinder, FilesOrder } from "./files/file-finder.ts";
import type { SessionHooks } from "./hooks.ts";
import type {
  EventsOrder,
  InputOrder,
  Manager,
  MarkOrder,
  SpawnOrder,
  StatsOrder,
  ViewFilter,
  ViewsPage,
  WaitOrder,
} from "./manager-types.ts";
import type { QuotaDesk } from "./quota/desk.ts";
import { removeSession } from "./remove.ts";
import type { Responded } from "./requests/frames.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { RespondOrder } from "./requests/types.ts";
import { resumeUnfinished } from "./resume.ts";
import { askToSpawn } from "./rights/ask-to-spawn.ts";
import type { Caller } from "./rights/caller.ts";
import type { Escalation } from "./rights/ceiling.ts";
import { GuardedManager } from "./rights/guarded-manager.ts";
import type { Rights } from "./rights/rights.ts";
import type { Session } from "./session.ts";
import type { Receipt } from "./session-types.ts";
import { changeSettings, readSettings } from "./settings.ts";
import { spawnSession } from "./spawn.ts";
import type { SessionTable } from "./table.ts";
import type { TranscriptSearch } from "./transcripts/search-index.ts";
import type { Transcripts } from "./transcripts/transcripts.ts";
import type { Client, RequestsFilter, RequestsPage, Subscriber } from "./types.ts";
import type { Changes } from "./views/changes.ts";
import { readEvents } from "./views/events-page.ts";
import { readStats } from "./views/read-stats.ts";
import { type SearchOrder, searchHistory } from "./views/search.ts";
import { readUsage, type UsageOrder } from "./views/usage.ts";
import { settleAction } from "./views/view.ts";
import type { Views } from "./views/views.ts";
import { findWaitState, waitFor } from "./views/wait.ts";
import type { Worktrees } from "./worktrees/worktrees.ts";

export interface ManagerParts {
  table: SessionTable;
  ledger: Ledger;
  store: Store;
  observer: Observer;
  family: Family;
  changes: Changes;
  views: Views;
  rights: Rights;
  worktrees?: Worktrees | undefined;
  transcripts: Transcripts;
  /** Absent: nothing is searched. */
  outside: TranscriptSearch | undefined;
  quota: QuotaDesk;
  /** Absent: turned off. */
  checkpoints: Checkpoints | undefined;
  files: FileFinder;
  /** Throws `notify_not_allowed`. */
  checkNotifyUrl(url: string): void;
  budgets: Budgets;
  checkSpawn(parent: string, budget: Budget | undefined): Promise<() => void>;
  removed: SessionHooks["onRemoved"];
  log: Log;
}

export class SessionManager implements Manager {
  readonly #parts: ManagerParts;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
  }

  async spawn(order: SpawnOrder): ReturnType<Manager["spawn"]> {
    const { table, views, changes, log } = this.#parts;
    if (order.notify_url !== undefined) this.#parts.checkNotifyUrl(order.notify_url);
    const { session_id, ...spawned } = await spawnSession(order, {
      table,
      checkParent: this.#parts.checkSpawn,
      worktrees: this.#parts.worktrees,
      transcripts: this.#parts.transcripts,
    });
    changes.markChanged(session_id);
    if (order.parent !== undefined) changes.markChanged(order.parent);
    const { repeated } = spawned;
    log.info("session.spawn", { session_id, backend: order.backend, parent: order.parent, repeated });
    const session = await views.of(session_id);
    return { session, ...spawned, ...defined({ notice: this.#parts.budgets.findDoubt(session) }) };
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

  async mark(session_id: string, { budget, ...marks }: MarkOrder): Promise<SessionView> {
    // All of it or nothing.
    if (budget !== undefined) await this.#parts.budgets.change(session_id, budget, marks);
    else if (Object.keys(marks).length > 0)
      await this.#parts.table.use(session_id, (session) => session.mark(marks));
    this.#parts.changes.markChanged(session_id);
    return this.#parts.views.of(session_id);
  }

  settings(session_id: string): Promise<SettingsReply> {
    return readSettings(this.#parts.table, session_id);
  }

  async adjust(session_id: string, change: SettingsChange): Promise<SettingsReply> {
    await changeSettings(this.#parts.table, session_id, change);
    this.#parts.changes.markChanged(session_id);
    return this.settings(session_id);
  }

  input(order: InputOrder): Promise<Receipt> {
    return this.#parts.table.use(order.session_id, (session) => this.#input(session, order));
  }

  async #input(session: Session, order: InputOrder): Promise<Receipt> {
    const { session_id, message, now = false, steer, key, from } = order;
    const isKnown = key !== undefined && session.row.inputs?.some((record) => record.key === key);
    const pending = this.#parts.ledger.listPending(session_id);
    // What holds the queue does not keep messages out of it.
    const waiting = pending.find(({ request_type }) => request_type !== "budget" && request_type !== "quota");
    const { turn } = session.row;
    // A pending request blocks new messages. Interrupting withdraws it, and a repeated call changes nothing.
    const isTakenAway = now && turn !== undefined;
    if (waiting !== undefined && !isTakenAway && isKnown !== true) throw waitingError(toWaiting(waiting));
    const receipt = await session.enqueue({
      message,
      kind: "user",
      isFirst: now,
      ...defined({ key, from, steer }),
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

  async continueQueue(session_id: string): Promise<{ queued: number }> {
    return this.#parts.table.use(session_id, async (session) => {
      const queued = session.row.queue?.length ?? 0;
      if (queued > 0) await session.mark({ resumed: true });
      return { queued };
    });
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
    await this.#parts.budgets.onRemoving(ids);
    for (const id of ids) await removeSession(id, by, this.#parts);
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
      state: (session_id) => findWaitState(session_id, this.#parts),
      view: (session_id) => views.of(session_id),
    });
  }

  async respond(order: RespondOrder): Promise<Responded> {
    await this.#loadRow(order.session_id);
    const session = this.#parts.table.live.get(order.session_id);
    return session === undefined ? this.#parts.ledger.respond(order) : session.respond(undefined, order);
  }

  async requests(filter: RequestsFilter & { tree?: boolean }): ReturnType<Manager["requests"]> {
    await this.#parts.table.ready;
    const page = await this.#listRequests(filter);
    const ids = new Set(page.requests.map(({ session_id }) => session_id));
    return { ...page, sessions: await this.#parts.views.askers(ids) };
  }

  async #listRequests({ tree, ...filter }: RequestsFilter & { tree?: boolean }): Promise<RequestsPage> {
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

  async stats(order: StatsOrder): Promise<Stats> {
    await this.#parts.table.ready;
    if (order.session_id !== undefined) await this.#loadRow(order.session_id);
    return readStats(order, { ...this.#parts, requests: (filter) => this.requests(filter) });
  }

  async usage(order: UsageOrder): Promise<UsageReply> {
    await this.#parts.table.ready;
    if (order.session_id !== undefined) await this.#loadRow(order.session_id);
    return readUsage(this.#parts, order);
  }

  async search(order: SearchOrder): Promise<SearchReply> {
    await this.#parts.table.ready;
    if (order.session_id !== undefined) await this.#loadRow(order.session_id);
    return searchHistory(this.#parts, order);
  }

  async quota({ refresh }: { refresh: boolean }): Promise<QuotaReply> {
    await this.#parts.table.ready;
    return this.#parts.quota.report(refresh);
  }

  async orderQuota(session_id: string, { order }: QuotaBody): Promise<SessionView> {
    await this.#parts.quota.order(session_id, { do: order });
    return this.#parts.views.of(session_id);
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
    const { checkpoints, table } = this.#parts;
    const row = await this.#loadRow(session_id);
    return undoTurns(checkpoints, row, order, {
      name: row.backend,
      canRewind: table.findBackend(row.backend)?.canRewind === true,
      rewind: (turns) => table.use(session_id, (session) => session.rewind(turns)),
    });
  }

  async files(session_id: string, order: FilesOrder): Promise<FilesReply> {
    const { cwd } = await this.#loadRow(session_id);
    return { session_id, ...(await this.#parts.files.find(cwd, order)) };
  }

  onChange(listener: (change: ChangeView) => void): () => void {
    return this.#parts.changes.subscribe(listener);
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
    return new GuardedManager(this, caller, this.#parts);
  }

  /** Calls from this process are a person's. */
  requirePerson(): void {}

  requireSight(): void {}

  /** At daemon start: continues queues and wakes. */
  resume(): Promise<void> {
    return resumeUnfinished(this.#parts);
  }

  async #loadRow(session_id: string): Promise<SessionRow> {
    const row = await this.#parts.table.find(session_id);
    if (row === undefined) throw unknownSessionError(session_id);
    return row;
  }

  async #withTree(session_id: string, tree: boolean): Promise<string[]> {
    await this.#loadRow(session_id);
    if (!tree) return [session_id];
    const { table } = this.#parts;
    const rows = table.withLive(await table.select({ family: session_id }));
    const below = listDescendants(session_id, rows.values());
    return [session_id, ...below.map(({ row }) => row.session_id)];
  }
}
