// The manager for one caller: checks every call against its rights before passing it on. For people it only records who
// answers.
import { defined } from "../../base/values.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { FilesReply } from "../../protocol/files.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { QuotaBody, QuotaReply } from "../../protocol/quota.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SearchReply } from "../../protocol/search.ts";
import type { SettingsChange, SettingsReply } from "../../protocol/settings.ts";
import type { Stats } from "../../protocol/stats.ts";
import type { UsageReply } from "../../protocol/usage-report.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../../protocol/views.ts";
import type { FilesOrder } from "../files/file-finder.ts";
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
} from "../manager-types.ts";
import type { Responded } from "../requests/frames.ts";
import type { RespondOrder } from "../requests/types.ts";
import { describeChange } from "../settings.ts";
import { describeSpawn } from "../spawn.ts";
import type { SessionTable } from "../table.ts";
import type { Transcripts } from "../transcripts/transcripts.ts";
import type { Client, RequestsFilter, Subscriber } from "../types.ts";
import type { SearchOrder } from "../views/search.ts";
import type { UsageOrder } from "../views/usage.ts";
import { type Caller, findOwnSession, listOwnSessions, toAnsweredBy } from "./caller.ts";
import type { Escalation } from "./ceiling.ts";
import { quoteForParent } from "./child-message.ts";
import type { Relation } from "./operations.ts";
import { redactInput, redactView } from "./redact.ts";
import type { ChildRights, Rights } from "./rights.ts";

/** What only the manager itself can do. */
export interface SpawnAsker {
  /** Lets a person decide; the session is spawned when they accept. Throws `escalation` with the request. */
  askToSpawn(order: SpawnOrder & { parent: string }, escalation: Escalation): Promise<never>;
}

/** What tells which rights a call would give. */
export interface GuardParts {
  rights: Rights;
  table: SessionTable;
  transcripts: Pick<Transcripts, "findCwd">;
}

export class GuardedManager implements Manager {
  readonly #inner: Manager & SpawnAsker;
  readonly #caller: Caller;
  readonly #parts: GuardParts;
  readonly #rights: Rights;

  constructor(inner: Manager & SpawnAsker, caller: Caller, parts: GuardParts) {
    this.#inner = inner;
    this.#caller = caller;
    this.#parts = parts;
    this.#rights = parts.rights;
  }

  as(caller: Caller): Manager {
    return this.#inner.as(caller);
  }

  requirePerson(action: string): void {
    this.#rights.requirePerson(this.#caller, action);
  }

  requireSight(action: string): void {
    if (!this.#rights.seesAll) this.requirePerson(action);
  }

  async spawn(order: SpawnOrder): ReturnType<Manager["spawn"]> {
    const { ask: _ask, ...plain } = order;
    if (!this.#caller.isAgent) return this.#inner.spawn(plain);
    if (order.transcript !== undefined) this.requireSight("continue conversations from outside");
    const { parent = this.#rights.requireOwnSession(this.#caller, "spawn sessions") } = order;
    await this.#rights.require(this.#caller, "spawn", parent);
    const { ask, ...rest } = { ...order, parent };
    const child = await describeSpawn(rest, this.#parts);
    const escalation = await this.#findEscalation(child, parent);
    if (escalation === undefined) return this.#inner.spawn(rest);
    if (ask !== true) throw this.#rights.refuseEscalation(this.#caller, escalation);
    return this.#inner.askToSpawn(rest, escalation);
  }

  async views(filter: ViewFilter): Promise<ViewsPage> {
    const page = await this.#inner.views(filter);
    const isTelling = HIDDEN_FACTS.some((name) => filter[name] !== undefined);
    const readable = isTelling ? await this.#rights.listReadable(this.#caller) : undefined;
    // A directory is not a name: that a session is found by it would show it.
    const visible = page.sessions.filter(({ session_id }) => readable?.has(session_id) ?? true);
    return { ...page, sessions: await this.#redact(visible) };
  }

  async view(session_id: string): Promise<SessionView> {
    return this.#redactOne(await this.#inner.view(session_id));
  }

  async family(session_id: string): Promise<{ depth: number; session: SessionView }[]> {
    const members = await this.#inner.family(session_id);
    const views = await this.#redact(members.map(({ session }) => session));
    return members.map((member, at) => ({ ...member, session: views[at] ?? member.session }));
  }

  async mark(session_id: string, change: MarkOrder): Promise<SessionView> {
    const { name, add_labels, remove_labels, archived, budget, on_limit } = change;
    if (budget !== undefined) this.requirePerson(`change the budget of session ${session_id}`);
    const hasLabels = add_labels !== undefined || remove_labels !== undefined;
    if (name !== undefined) await this.#rights.require(this.#caller, "rename", session_id);
    if (hasLabels) await this.#rights.require(this.#caller, "label", session_id);
    if (archived !== undefined) await this.#rights.require(this.#caller, "archive", session_id);
    if (on_limit !== undefined) await this.#rights.require(this.#caller, "quota", session_id);
    return this.#inner.mark(session_id, change);
  }

  async settings(session_id: string): Promise<SettingsReply> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.settings(session_id);
  }

  /** More rights than it has are for a person to give, also within the agent's own. */
  async adjust(session_id: string, change: SettingsChange): Promise<SettingsReply> {
    await this.#rights.require(this.#caller, "adjust", session_id);
    if (this.#caller.isAgent) {
      const changed = await describeChange(this.#parts.table, session_id, change);
      const escalation = await this.#findEscalation(changed, session_id);
      if (escalation !== undefined)
        throw this.#rights.refuse(this.#caller, {
          action: `give session ${session_id} other rights (${escalation.option})`,
          target: session_id,
          why: `${escalation.why}; a person does it`,
        });
    }
    return this.#inner.adjust(session_id, change);
  }

  async input(order: InputOrder): ReturnType<Manager["input"]> {
    if (!this.#caller.isAgent) return this.#inner.input(order);
    const { session_id, now, steer } = order;
    await this.#rights.require(this.#caller, "send", session_id);
    const relations = await this.#rights.listRelations(this.#caller, session_id);
    if (!relations.includes("parent")) {
      const own = findOwnSession(this.#caller);
      return this.#inner.input({ ...order, ...defined({ from: own }) });
    }
    // The quote names the child.
    const from = this.#rights.requireOwnSession(this.#caller, `send messages to session ${session_id}`);
    // Both change what the parent's turn is about.
    if (now === true || steer === true) await this.#rights.require(this.#caller, "interrupt", session_id);
    const child = (await this.#rights.find(from)) ?? { session_id: from };
    return this.#inner.input({ ...order, from, message: quoteForParent(child, order.message) });
  }

  async queue(session_id: string): ReturnType<Manager["queue"]> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.queue(session_id);
  }

  async cancelInput(session_id: string, message_id: string): Promise<InputRecord> {
    if (!(await this.#isOwnWake(session_id, message_id)))
      await this.#rights.require(this.#caller, "cancel", session_id);
    return this.#inner.cancelInput(session_id, message_id);
  }

  async continueQueue(session_id: string): Promise<{ queued: number }> {
    await this.#rights.require(this.#caller, "resume", session_id);
    return this.#inner.continueQueue(session_id);
  }

  async interrupt(session_id: string, by?: string): Promise<{ was_idle: boolean }> {
    await this.#rights.require(this.#caller, "interrupt", session_id);
    return this.#inner.interrupt(session_id, by);
  }

  async stop(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]> {
    await this.#rights.require(this.#caller, "stop", session_id);
    return this.#inner.stop(session_id, how);
  }

  async remove(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]> {
    await this.#rights.require(this.#caller, "remove", session_id);
    return this.#inner.remove(session_id, how);
  }

  async events(order: EventsOrder): Promise<EventsPage> {
    await this.#rights.require(this.#caller, "read", order.session_id);
    return this.#inner.events(order);
  }

  async watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    since_seq: number | undefined,
  ): ReturnType<Manager["watch"]> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.watch(client, subscriber, session_id, since_seq);
  }

  async wait(order: WaitOrder): Promise<WaitReply> {
    await this.#rights.require(this.#caller, "wait", order.session_id);
    const reply = await this.#inner.wait(order);
    const session = await this.#redactOne(reply.session);
    const isReadable = session === reply.session;
    return { ...reply, session, ...(isReadable ? {} : defined({ input: redactInput(reply.input) })) };
  }

  async respond(order: RespondOrder): Promise<Responded> {
    const { session_id, request_id, source } = order;
    await this.#rights.requireAnswer(this.#caller, session_id, () =>
      this.#inner.request(session_id, request_id),
    );
    return this.#inner.respond({ ...order, answered_by: toAnsweredBy(this.#caller, source) });
  }

  async requests(filter: RequestsFilter & { tree?: boolean }): ReturnType<Manager["requests"]> {
    if (filter.session_id !== undefined) {
      await this.#rights.require(this.#caller, "read", filter.session_id);
      return this.#inner.requests(filter);
    }
    const session_ids = await this.#rights.listReadable(this.#caller);
    return this.#inner.requests({ ...filter, ...defined({ session_ids }) });
  }

  async request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    const row = await this.#inner.request(session_id, request_id);
    if (row !== undefined) await this.#rights.require(this.#caller, "read", row.session_id);
    return row;
  }

  async actions(session_id: string, limit: number): Promise<Action[]> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.actions(session_id, limit);
  }

  /** Without a session, an agent gets its own figures. */
  async stats(order: StatsOrder): Promise<Stats> {
    return this.#inner.stats(await this.#limitFigures(order));
  }

  async usage(order: UsageOrder): Promise<UsageReply> {
    return this.#inner.usage(await this.#limitFigures(order));
  }

  async search(order: SearchOrder): Promise<SearchReply> {
    if (order.session_id !== undefined) {
      await this.#rights.require(this.#caller, "read", order.session_id);
      return this.#inner.search(order);
    }
    const session_ids = await this.#rights.listReadable(this.#caller);
    return this.#inner.search({ ...order, ...defined({ session_ids }) });
  }

  /** Which sessions wait is a fact about those. */
  async quota(order: { refresh: boolean }): Promise<QuotaReply> {
    const { windows, waiting } = await this.#inner.quota(order);
    const readable = await this.#rights.listReadable(this.#caller);
    return { windows, waiting: waiting.filter(({ session_id }) => readable?.has(session_id) ?? true) };
  }

  async orderQuota(session_id: string, body: QuotaBody): Promise<SessionView> {
    await this.#rights.require(this.#caller, "quota", session_id);
    return this.#inner.orderQuota(session_id, body);
  }

  async #limitFigures<T extends { session_id?: string }>(order: T): Promise<T> {
    if (!this.#caller.isAgent || this.#rights.seesAll) return order;
    const { session_id = this.#rights.requireOwnSession(this.#caller, "read the figures of all sessions") } =
      order;
    await this.#rights.require(this.#caller, "read", session_id);
    return { ...order, session_id };
  }

  async changes(session_id: string, order: Parameters<Manager["changes"]>[1]): Promise<ChangesReply> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.changes(session_id, order);
  }

  async fileChanges(
    session_id: string,
    order: Parameters<Manager["fileChanges"]>[1],
  ): Promise<FileChangesReply> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.fileChanges(session_id, order);
  }

  async undo(session_id: string, order: UndoBody): Promise<UndoReply> {
    await this.#rights.require(this.#caller, "undo", session_id);
    return this.#inner.undo(session_id, order);
  }

  /** For those who write messages to it; names of files are contents too. */
  async files(session_id: string, order: FilesOrder): Promise<FilesReply> {
    await this.#rights.require(this.#caller, "send", session_id);
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.files(session_id, order);
  }

  onChange(listener: (change: ChangeView) => void): () => void {
    if (!this.#caller.isAgent) return this.#inner.onChange(listener);
    return this.#inner.onChange((change) => {
      const visible = this.#redactChange(change);
      if (visible !== undefined) listener(visible);
    });
  }

  /** A session below it may have more rights than the agent itself: both are the ceiling. */
  async #findEscalation(child: ChildRights, parent: string): Promise<Escalation | undefined> {
    const ceilings = new Set([...listOwnSessions(this.#caller), parent]);
    for (const id of ceilings) {
      const escalation = await this.#rights.findEscalation(child, id);
      if (escalation !== undefined) return escalation;
    }
    return undefined;
  }

  /** Its own wakes are for it to read or to drop; a person's message is not. */
  async #isOwnWake(session_id: string, message_id: string): Promise<boolean> {
    if (!this.#caller.isAgent || findOwnSession(this.#caller) !== session_id) return false;
    const { queued } = await this.#inner.queue(session_id);
    return queued.some((entry) => entry.message_id === message_id && entry.kind === "wake");
  }

  #redactChange(change: ChangeView): ChangeView | undefined {
    const mayRead = (id: string): boolean => this.#rights.mayReadNow(this.#caller, id);
    if (change.kind === "session") {
      const { session } = change;
      return mayRead(session.session_id) ? change : { ...change, session: redactView(session, []) };
    }
    if (change.kind === "request") return mayRead(change.request.session_id) ? change : undefined;
    if (change.kind === "queue") return mayRead(change.session_id) ? change : undefined;
    // What is not known here is not shown.
    return change.kind === "session_removed" || change.kind === "reset" ? change : undefined;
  }

  async #redact(views: readonly SessionView[]): Promise<SessionView[]> {
    if (!this.#caller.isAgent || this.#rights.seesAll) return [...views];
    const ids = views.map(({ session_id }) => session_id);
    const relations = await this.#rights.listRelationsOfAll(this.#caller, ids);
    return views.map((view) => {
      const own = relations.get(view.session_id) ?? [];
      return isReadable(own) ? view : redactView(view, own);
    });
  }

  async #redactOne(view: SessionView): Promise<SessionView> {
    return (await this.#redact([view]))[0] ?? view;
  }
}

/** Filters by what agents do not see of other sessions. */
const HIDDEN_FACTS = ["cwd", "project", "labels", "min_cost_usd"] as const satisfies (keyof ViewFilter)[];

function isReadable(relations: readonly Relation[]): boolean {
  return relations.length > 0 && relations.every((relation) => relation === "self" || relation === "below");
}
