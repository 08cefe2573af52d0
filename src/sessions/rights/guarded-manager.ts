// The manager for one caller: checks every call against its rights before passing it on. For people it only records who
// answers.
import { defined } from "../../base/values.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { Stats } from "../../protocol/stats.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../../protocol/views.ts";
import type {
  EventsOrder,
  InputOrder,
  Manager,
  SpawnOrder,
  StatsOrder,
  ViewFilter,
  ViewsPage,
  WaitOrder,
} from "../manager-types.ts";
import type { Responded } from "../requests/frames.ts";
import type { RespondOrder } from "../requests/types.ts";
import type { Client, RequestsFilter, RequestsPage, Subscriber } from "../types.ts";
import { type Caller, findOwnSession, listOwnSessions, toAnsweredBy } from "./caller.ts";
import type { Escalation } from "./ceiling.ts";
import { quoteForParent } from "./child-message.ts";
import type { Relation } from "./operations.ts";
import { redactInput, redactView } from "./redact.ts";
import type { ChildRights, Rights } from "./rights.ts";

/** What only the manager itself can do. */
export interface SpawnAsker {
  /** The rights of the session that this order asks for. */
  describeSpawn(order: SpawnOrder): Promise<ChildRights>;
  /** Lets a person decide; the session is spawned when they accept. Throws `escalation` with the request. */
  askToSpawn(order: SpawnOrder & { parent: string }, escalation: Escalation): Promise<never>;
}

export class GuardedManager implements Manager {
  readonly #inner: Manager & SpawnAsker;
  readonly #caller: Caller;
  readonly #rights: Rights;

  constructor(inner: Manager & SpawnAsker, caller: Caller, rights: Rights) {
    this.#inner = inner;
    this.#caller = caller;
    this.#rights = rights;
  }

  as(caller: Caller): Manager {
    return this.#inner.as(caller);
  }

  requirePerson(action: string): void {
    this.#rights.requirePerson(this.#caller, action);
  }

  async spawn(order: SpawnOrder): ReturnType<Manager["spawn"]> {
    const { ask: _ask, ...plain } = order;
    if (!this.#caller.isAgent) return this.#inner.spawn(plain);
    const { parent = this.#rights.requireOwnSession(this.#caller, "spawn sessions") } = order;
    await this.#rights.require(this.#caller, "spawn", parent);
    const { ask, ...rest } = { ...order, parent };
    const child = await this.#inner.describeSpawn(rest);
    const escalation = await this.#findEscalation(child, parent);
    if (escalation === undefined) return this.#inner.spawn(rest);
    if (ask !== true) throw this.#rights.refuseEscalation(this.#caller, escalation);
    return this.#inner.askToSpawn(rest, escalation);
  }

  async views(filter: ViewFilter): Promise<ViewsPage> {
    const page = await this.#inner.views(filter);
    const readable = filter.cwd === undefined ? undefined : await this.#rights.listReadable(this.#caller);
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

  async rename(session_id: string, name: string | null): Promise<SessionView> {
    await this.#rights.require(this.#caller, "rename", session_id);
    return this.#inner.rename(session_id, name);
  }

  async input(order: InputOrder): ReturnType<Manager["input"]> {
    if (!this.#caller.isAgent) return this.#inner.input(order);
    const { session_id, now } = order;
    await this.#rights.require(this.#caller, "send", session_id);
    const relations = await this.#rights.listRelations(this.#caller, session_id);
    if (!relations.includes("parent")) {
      const own = findOwnSession(this.#caller);
      return this.#inner.input({ ...order, ...defined({ from: own }) });
    }
    // The quote names the child.
    const from = this.#rights.requireOwnSession(this.#caller, `send messages to session ${session_id}`);
    if (now === true) await this.#rights.require(this.#caller, "interrupt", session_id);
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

  async requests(filter: RequestsFilter & { tree?: boolean }): Promise<RequestsPage> {
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
    if (!this.#caller.isAgent || this.#rights.seesAll) return this.#inner.stats(order);
    const { session_id = this.#rights.requireOwnSession(this.#caller, "read the figures of all sessions") } =
      order;
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.stats({ ...order, session_id });
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

function isReadable(relations: readonly Relation[]): boolean {
  return relations.length > 0 && relations.every((relation) => relation === "self" || relation === "below");
}
