// The hub for one connection: checks every call against its caller's rights before passing it on. A session that a caller
// owns was opened here, so messages, interrupts and closes, which only owners can send, need no further check. Calls on a
// session stay in the order in which they were made, although a check takes time: people's are passed on at once.

import { defined } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionSummary } from "../../protocol/session.ts";
import type { Responded } from "../requests/frames.ts";
import type { RespondOrder } from "../requests/types.ts";
import type {
  Attachment,
  Client,
  CloseOrder,
  Hub,
  Opened,
  OpenOrder,
  RequestsFilter,
  RequestsPage,
  SessionCounts,
  SessionInfo,
  Subscriber,
} from "../types.ts";
import { type Caller, toAnsweredBy } from "./caller.ts";
import { redactSummary } from "./redact.ts";
import type { ChildRights, Rights } from "./rights.ts";

export interface OpenGuard {
  /** The client that owns the session now. */
  owner(session_id: string): Client | undefined;
  /** The rights of the session that this order asks for. */
  describeOpen(order: OpenOrder): Promise<ChildRights>;
}

export class GuardedHub implements Hub {
  readonly #inner: Hub & OpenGuard;
  readonly #caller: Caller;
  readonly #rights: Rights;
  /** By session: fulfilled when the agent's last call on it was passed on. */
  readonly #passing = new Map<string, Promise<void>>();

  constructor(inner: Hub & OpenGuard, caller: Caller, rights: Rights) {
    this.#inner = inner;
    this.#caller = caller;
    this.#rights = rights;
  }

  as(caller: Caller): Hub {
    return this.#inner.as(caller);
  }

  open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Opened> {
    if (!this.#caller.isAgent) return this.#inner.open(client, subscriber, order);
    let checked = order;
    return this.#pass(
      order.session_id,
      () => this.#inner.open(client, subscriber, checked),
      async () => {
        checked = await this.#checkOpen(client, order);
      },
    );
  }

  send(client: Client, session_id: string, message: UserMessage): Promise<void> {
    return this.#pass(session_id, () => this.#inner.send(client, session_id, message));
  }

  interrupt(client: Client, session_id: string, acknowledged: (was_idle: boolean) => void): Promise<void> {
    return this.#pass(session_id, () => this.#inner.interrupt(client, session_id, acknowledged));
  }

  close(client: Client, session_id: string, how: CloseOrder): Promise<void> {
    return this.#pass(session_id, () => this.#inner.close(client, session_id, how));
  }

  watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    last_seen_seq: number | undefined,
  ): Promise<{ last_seq: number; attachment: Attachment }> {
    const watch = () => this.#inner.watch(client, subscriber, session_id, last_seen_seq);
    return this.#pass(session_id, watch, () => this.#rights.require(this.#caller, "read", session_id));
  }

  unwatch(client: Client, session_id: string): Promise<boolean> {
    return this.#pass(session_id, () => this.#inner.unwatch(client, session_id));
  }

  respond(client: Client, order: RespondOrder): Promise<Responded> {
    const { session_id, request_id, source } = order;
    const answered_by = toAnsweredBy(this.#caller, source);
    const respond = () => this.#inner.respond(client, { ...order, answered_by });
    return this.#pass(session_id, respond, () =>
      this.#rights.requireAnswer(this.#caller, session_id, () => this.#inner.request(session_id, request_id)),
    );
  }

  async requests(filter: RequestsFilter): Promise<RequestsPage> {
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

  detach(client: Client): void {
    this.#inner.detach(client);
  }

  async list(filter: { cwd?: string; live?: boolean }): Promise<SessionSummary[]> {
    const sessions = await this.#inner.list(filter);
    if (!this.#caller.isAgent) return sessions;
    const readable = await this.#rights.listReadable(this.#caller);
    if (readable === undefined) return sessions;
    // A directory is not a name: that a session is found by it would show it.
    const visible = sessions.filter(({ session_id }) => filter.cwd === undefined || readable.has(session_id));
    return visible.map((summary) => (readable.has(summary.session_id) ? summary : redactSummary(summary)));
  }

  async info(session_id: string): Promise<SessionInfo> {
    await this.#rights.require(this.#caller, "read", session_id);
    return this.#inner.info(session_id);
  }

  counts(): SessionCounts {
    return this.#inner.counts();
  }

  /** At once for people; for an agent after the check, and after its earlier calls on the session were passed on. */
  #pass<T>(session_id: string, call: () => Promise<T>, check?: () => Promise<void>): Promise<T> {
    if (!this.#caller.isAgent) return call();
    const before = this.#passing.get(session_id) ?? Promise.resolve();
    // Wrapped: the next call must not wait for the end of this one.
    const passed = before.then(check).then(() => ({ running: call() }));
    const isPassed = passed.then(
      ({ running }) => void running.catch(() => undefined),
      () => undefined,
    );
    this.#passing.set(session_id, isPassed);
    void isPassed.then(() => {
      if (this.#passing.get(session_id) === isPassed) this.#passing.delete(session_id);
    });
    return passed.then(({ running }) => running);
  }

  /** A new session becomes its child, for which people answer. */
  async #checkOpen(client: Client, order: OpenOrder): Promise<OpenOrder> {
    const { session_id } = order;
    const parent = this.#rights.requireOwnSession(this.#caller, "open sessions");
    await this.#rights.require(this.#caller, "open", session_id);
    const owner = this.#inner.owner(session_id);
    if (owner !== undefined && owner !== client) await this.#rights.require(this.#caller, "take", session_id);
    const escalation = await this.#rights.findEscalation(await this.#inner.describeOpen(order), parent);
    if (escalation !== undefined) throw this.#rights.refuseEscalation(this.#caller, escalation);
    return { ...order, parent, answers: "any" };
  }
}
