// Sessions as the socket sees them: one client owns a session, others watch it. Validates before committing: a refused
// request changes nothing.

import type { Backend } from "../backends/types.ts";
import { CodedError } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionSummary } from "../protocol/session.ts";
import { unknownSessionError } from "./core/refusals.ts";
import { detectProject } from "./detect-project.ts";
import type { Responded } from "./requests/frames.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { RespondOrder } from "./requests/types.ts";
import type { Caller } from "./rights/caller.ts";
import { createRights } from "./rights/from-table.ts";
import { GuardedHub } from "./rights/guarded-hub.ts";
import type { ChildRights, Rights } from "./rights/rights.ts";
import type { Session } from "./session.ts";
import type { Publisher } from "./stream/publish.ts";
import { exists, SessionTable } from "./table.ts";
import type { Obtained, TableOptions } from "./table-types.ts";
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
} from "./types.ts";
import { getColdInfo, getLiveInfo, type ListFilter, listSessions } from "./views/listing.ts";

export interface HubOptions extends TableOptions {
  /** What agents see of sessions outside their subtree; `subtree` (default): names and states. */
  agentsSee?: "subtree" | "all";
  /** Reads a parent's family. The returned function throws if it may not have more children. */
  checkSpawn?: (parent: string) => Promise<() => void>;
}

type Checked = OpenOrder & Required<Pick<OpenOrder, "options">>;

export class SessionHub implements Hub {
  readonly table: SessionTable;
  readonly rights: Rights;
  readonly #options: HubOptions;
  readonly #log: Log;
  /** Opens in progress, counted for the limits. */
  readonly #opening = new Map<Client, number>();

  constructor(options: HubOptions) {
    this.table = new SessionTable(options);
    this.rights = createRights(this.table, options.agentsSee === "all", options.log);
    this.#options = options;
    this.#log = options.log;
  }

  get ledger(): Ledger {
    return this.#options.ledger;
  }

  get publisher(): Publisher {
    return this.#options.publisher;
  }

  get sessions(): readonly Session[] {
    return [...this.table.live.values()];
  }

  async open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Opened> {
    const backend = this.table.backend(order.backend);
    this.#checkBlocks(backend, order);
    const checked: Checked = { ...order, options: backend.checkOptions(order.options ?? {}) };
    this.#checkClientLimit(client, order.session_id);
    this.#count(client, 1);
    try {
      const { parent } = checked;
      const release = await this.table.changing.lock(order.session_id);
      let obtained: Obtained<Attachment>;
      try {
        const cwd = checked.options["cwd"];
        if (typeof cwd === "string") checked.project = await detectProject(cwd);
        const check = parent === undefined ? undefined : await this.#options.checkSpawn?.(parent);
        // Queued in the session before the lock is released, so a message sent right after it is processed later.
        obtained = await this.table.obtain(
          backend,
          checked,
          (session) => session.open(client, subscriber, checked),
          check,
        );
      } finally {
        release();
      }
      const { session, isNew, opening } = obtained;
      try {
        const attachment = await opening;
        this.#log.info("session.open", {
          session_id: order.session_id,
          backend: backend.name,
          model: checked.options["model"],
          resume: order.resume,
          connection_id: client.id,
        });
        return toOpened(session, attachment);
      } catch (error) {
        // If another client has sent to it meanwhile and got a confirmation, the session stays.
        if (isNew) await this.table.remove(session, "open_failed", { if: "abandoned" });
        throw error;
      }
    } finally {
      this.#count(client, -1);
    }
  }

  async send(client: Client, session_id: string, message: UserMessage): Promise<void> {
    await this.table.free(session_id);
    await this.table.session(session_id).send(client, message);
  }

  async interrupt(
    client: Client,
    session_id: string,
    acknowledged: (was_idle: boolean) => void,
  ): Promise<void> {
    await this.table.free(session_id);
    const session = this.table.live.get(session_id);
    if (session === undefined) acknowledged(true);
    else await session.interrupt(client, acknowledged);
  }

  /** A session that is not loaded has no waits; the ledger still knows how its requests ended. */
  async respond(client: Client, order: RespondOrder): Promise<Responded> {
    await this.#options.ready;
    await this.table.changing.free(order.session_id);
    const session = this.table.live.get(order.session_id);
    return session === undefined ? this.#options.ledger.respond(order) : session.respond(client, order);
  }

  async requests(filter: RequestsFilter): Promise<RequestsPage> {
    await this.#options.ready;
    return this.#options.ledger.list(filter);
  }

  async request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    await this.#options.ready;
    return this.#options.ledger.find(session_id, request_id);
  }

  /** Closing an unknown session, or one of another owner, does nothing. */
  async close(client: Client, session_id: string, how: CloseOrder): Promise<void> {
    // Requested immediately: an open sent right after this must come later.
    const release = await this.table.changing.lock(session_id);
    try {
      if (this.table.startup !== undefined) await this.table.startup;
      const session = this.table.live.get(session_id);
      // A pending open of the same client goes first.
      if (session === undefined || (session.owner !== client && !this.#opening.has(client))) return;
      const isAtWork = this.table.isAtWork(session.row);
      await this.table.unmake(session, "owner_closed", {
        if: { owner: client.id },
        isForgotten: how.delete,
        afterwards: async () => {
          if (how.delete) {
            await this.#options.store.delete(session_id);
            this.#options.hooks?.onRemoved(session.row, isAtWork);
          }
          if (how.deleteTranscript) {
            await session.backend.deleteTranscript?.(session_id, session.row.cwd);
          }
        },
      });
    } finally {
      release();
    }
  }

  async watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    last_seen_seq: number | undefined,
  ): Promise<{ last_seq: number; attachment: Attachment }> {
    await this.table.free(session_id);
    const session = this.table.session(session_id);
    const attachment = session.watch(client, subscriber, last_seen_seq);
    this.#log.info("session.watched", { session_id, connection_id: client.id });
    return { last_seq: session.stream.last_seq, attachment };
  }

  async unwatch(client: Client, session_id: string): Promise<boolean> {
    await this.table.free(session_id);
    return this.table.live.get(session_id)?.unwatch(client) ?? false;
  }

  detach(client: Client): void {
    for (const session of this.table.live.values()) session.leave(client);
  }

  list(filter: ListFilter): Promise<SessionSummary[]> {
    return listSessions({ ...this.#options, live: this.sessions }, filter);
  }

  async info(session_id: string): Promise<SessionInfo> {
    await this.table.free(session_id);
    const session = this.table.live.get(session_id);
    if (session !== undefined) return getLiveInfo(session);
    const info = await getColdInfo(this.#options, session_id);
    if (info === undefined) throw unknownSessionError(session_id);
    return info;
  }

  as(caller: Caller): Hub {
    return new GuardedHub(this, caller, this.rights);
  }

  /** Without options, a session keeps those it has. */
  async describeOpen(order: OpenOrder): Promise<ChildRights> {
    const backend = this.table.backend(order.backend);
    const row = await this.table.find(order.session_id);
    const given = backend.checkOptions(order.options ?? {});
    const isKept = row !== undefined && Object.keys(given).length === 0;
    const cwd = row?.cwd === undefined ? {} : { cwd: row.cwd };
    return { backend: backend.name, options: isKept ? row.options : { ...cwd, ...given } };
  }

  owner(session_id: string): Client | undefined {
    return this.table.live.get(session_id)?.owner;
  }

  counts(): SessionCounts {
    const by_backend: Record<string, number> = {};
    let attached = 0;
    let active_turns = 0;
    for (const session of this.table.live.values()) {
      by_backend[session.row.backend] = (by_backend[session.row.backend] ?? 0) + 1;
      if (session.owner !== undefined) attached += 1;
      if (session.isTurnActive) active_turns += 1;
    }
    const total = this.table.live.size;
    return { total, attached, detached: total - attached, active_turns, by_backend };
  }

  /** Number of sessions whose agent is running. */
  runningAgents(): number {
    return this.sessions.filter(({ isRunning }) => isRunning).length;
  }

  /**
   * Unloads sessions that had no owner for `idleMs`. Their history stays in the store. A session with a pending request
   * is not idle, because its answer could no longer be delivered.
   */
  async reap(idleMs: number, nowMs: number): Promise<number> {
    const { durable } = this.#options.store;
    const parents = new Set(this.sessions.map(({ row }) => row.parent));
    const due = this.sessions.filter(({ row, idleSinceMs }) => {
      // Without a store the session would be lost, and its children could not wake it.
      if (!durable && parents.has(row.session_id)) return false;
      return idleSinceMs !== undefined && nowMs - idleSinceMs >= idleMs;
    });
    const reaped = await Promise.all(
      due.map(async (session) => {
        if (!(await this.table.remove(session, "idle_timeout", { if: "idle" }))) return 0;
        this.#log.info("session.reaped", { session_id: session.row.session_id });
        return 1;
      }),
    );
    return reaped.reduce<number>((sum, count) => sum + count, 0);
  }

  /** Blocks for other backends are ignored; without a block for this one, an unknown name is probably a typo. */
  #checkBlocks(backend: Backend, { options, otherBlocks = [] }: OpenOrder): void {
    if (options !== undefined) return;
    const known = this.#options.backends.map((candidate) => candidate.name);
    const stray = otherBlocks.find((name) => !known.includes(name));
    if (stray === undefined) return;
    throw new CodedError(
      "invalid_message",
      `/options/${stray}: unknown backend; this session uses /options/${backend.name}`,
    );
  }

  #checkClientLimit(client: Client, session_id: string): void {
    const max = this.#options.limits.maxSessionsPerClient;
    const owned = this.sessions.filter(
      (session) => session.owner === client && session.row.session_id !== session_id,
    ).length;
    if (owned + (this.#opening.get(client) ?? 0) < max) return;
    throw exists(`this connection has ${max} sessions, the limit (max_sessions_per_connection)`);
  }

  #count(client: Client, by: number): void {
    const next = (this.#opening.get(client) ?? 0) + by;
    if (next === 0) this.#opening.delete(client);
    else this.#opening.set(client, next);
  }
}

function toOpened(session: Session, attachment: Attachment): Opened {
  const { row, pid } = session;
  return {
    session_id: row.session_id,
    backend: row.backend,
    last_seq: row.last_seq,
    ...defined({ subprocess_pid: pid, native_session_id: row.native_session_id }),
    attachment,
  };
}
