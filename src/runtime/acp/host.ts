// All sessions of one connection: opening, finding, closing them. What a session does is session.ts.
import { resolve } from "node:path";
import type {
  AgentContext,
  ClientCapabilities,
  ListSessionsRequest,
  ListSessionsResponse,
} from "@agentclientprotocol/sdk";
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { KeyedLock } from "../../base/keyed-lock.ts";
import type { Message } from "../messages.ts";
import type { SessionOrder } from "../session-types.ts";
import type { Choices } from "./choices.ts";
import { promptRunning, unknownSession } from "./errors.ts";
import {
  askedFor,
  askedMode,
  type Cwd,
  checkedCwd,
  ignored,
  type OpenParams,
  wishedFor,
} from "./open-params.ts";
import type { SessionMeta, SessionRecord } from "./record.ts";
import type { Runtimes } from "./runtimes.ts";
import { AcpSession } from "./session.ts";
import type { SessionStore } from "./store.ts";

/** What the program's flags say for every session. */
export type SessionDefaults = Pick<
  SessionOrder,
  "agent" | "provider" | "model" | "yes" | "dryRun" | "transcript"
>;

export interface HostOrder {
  store: SessionStore;
  runtimes: Runtimes;
  defaults: SessionDefaults;
  /** For what the client has no way to be told. */
  warn(message: string): void;
}

/** The answer to session/new, load and resume. */
export type OpenAnswer = Choices & { _meta: Record<string, unknown> };

interface Opening {
  id: string;
  cwd: Cwd;
  params: OpenParams;
  client: AgentContext;
  withReplay: boolean;
}

interface Kept {
  record: SessionRecord | undefined;
  history: readonly Message[];
  problems: string[];
}

interface Open {
  session: AcpSession;
  giveBack(): Promise<void>;
}

const PAGE = 100;
/** What stands in a kept session may no longer be there; then it goes on with what the flags and the config say. */
const VANISHED = new Set(["unknown_agent", "unknown_provider"]);

export class AcpHost {
  readonly #order: HostOrder;
  readonly #open = new Map<string, Open>();
  readonly #locks = new KeyedLock();
  #capabilities: ClientCapabilities = {};
  #isEnding = false;
  /** Once a process, and of no consequence when it fails. */
  #pruned: Promise<void> | undefined;

  constructor(order: HostOrder) {
    this.#order = order;
  }

  setCapabilities(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities;
  }

  async create(params: OpenParams, client: AgentContext): Promise<OpenAnswer & { sessionId: string }> {
    const cwd = await checkedCwd(params.cwd);
    const id = this.#order.store.newId();
    const answer = await this.#begin({ id, cwd, params, client, withReplay: false }, async () => {
      const problems: string[] = [];
      const record = await this.#order.store
        .create(id, newMeta(cwd.given), (problem) => this.#notice(id, problem))
        .catch((error: unknown) => {
          problems.push(`the session is not kept and could not be resumed: ${messageOf(error)}`);
          return undefined;
        });
      return { record, history: [], problems };
    }).catch(async (error: unknown) => {
      // Nothing was said in it. That it stays when this fails too is no harm.
      await this.#order.store.remove(id).catch(() => undefined);
      throw error;
    });
    this.#pruned ??= this.#order.store.prune(Date.now()).catch(() => undefined);
    return { sessionId: id, ...answer };
  }

  /** With replay it is session/load, without session/resume. */
  async load(id: string, params: OpenParams, client: AgentContext, withReplay: boolean): Promise<OpenAnswer> {
    const cwd = await checkedCwd(params.cwd);
    const unlock = await this.#locks.lock(id);
    try {
      if (!this.#order.store.has(id)) throw unknownSession(id);
      const before = this.#open.get(id);
      if (before?.session.isBusy) throw promptRunning("load it");
      // It may be opened again with another directory or environment.
      if (before !== undefined) await this.#end(id, before);
      return await this.#begin({ id, cwd, params, client, withReplay }, async () => {
        const opened = await this.#order.store.open(id, newMeta(cwd.given), (problem) =>
          this.#notice(id, problem),
        );
        if (opened === undefined) throw unknownSession(id);
        const { record, history, lostLines } = opened;
        const problems = lostLines === 0 ? [] : [`${lostLines} lines of the kept history could not be read`];
        return { record, history, problems };
      });
    } finally {
      unlock();
    }
  }

  /** Throws -32002. */
  get(id: string): AcpSession {
    const open = this.#open.get(id);
    if (open === undefined) throw unknownSession(id);
    return open.session;
  }

  find(id: string): AcpSession | undefined {
    return this.#open.get(id)?.session;
  }

  async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const all = await this.#order.store.list();
    const wanted = cwd ? all.filter((session) => session.cwd === resolve(cwd)) : all;
    const from = cursor ? wanted.findIndex(({ id }) => id === cursor) + 1 : 0;
    const page = wanted.slice(from, from + PAGE);
    const last = page.at(-1);
    return {
      sessions: page.map(({ id, cwd: where, title, updatedAt }) => ({
        sessionId: id,
        cwd: where,
        updatedAt,
        ...(title !== undefined && { title }),
      })),
      ...(last !== undefined && from + PAGE < wanted.length && { nextCursor: last.id }),
    };
  }

  async close(id: string): Promise<void> {
    // At once, and not behind a session/load that waits for the same lock.
    this.#open.get(id)?.session.cancel();
    const unlock = await this.#locks.lock(id);
    try {
      const open = this.#open.get(id);
      if (open === undefined) throw unknownSession(id);
      await this.#end(id, open);
    } finally {
      unlock();
    }
  }

  async remove(id: string): Promise<void> {
    this.#open.get(id)?.session.cancel();
    const unlock = await this.#locks.lock(id);
    try {
      const open = this.#open.get(id);
      if (open !== undefined) await this.#end(id, open);
      const wasThere = await this.#order.store.remove(id);
      if (!wasThere && open === undefined) throw unknownSession(id);
    } finally {
      unlock();
    }
  }

  /** Ends everything; no session opens any more. */
  async shutdown(): Promise<void> {
    this.#isEnding = true;
    for (const { session } of this.#open.values()) session.cancel();
    await Promise.allSettled([...this.#open].map(([id, open]) => this.#end(id, open)));
    await this.#pruned;
  }

  async #begin(opening: Opening, keep: () => Promise<Kept>): Promise<OpenAnswer> {
    const { id, cwd, params, client, withReplay } = opening;
    const asked = askedFor(params._meta);
    const agentMode = askedMode(params._meta);
    if (this.#isEnding) throw new CodedError("ending", "demian is ending");
    const { runtime, giveBack } = await this.#order.runtimes.borrow(cwd.real, agentMode);
    let kept: Kept | undefined;
    try {
      kept = await keep();
      const { record, history, problems } = kept;
      const open = (choice: SessionDefaults) =>
        AcpSession.open({
          id,
          cwd: cwd.given,
          runtime,
          client,
          capabilities: this.#capabilities,
          warn: (message) => this.#order.warn(message),
          record,
          choice: {
            ...this.#order.defaults,
            ...choice,
            ...wishedFor(params._meta, runtime.providers),
            ...asked,
            ...(history.length > 0 && { history }),
          },
        });
      const session = await open(keptChoice(record?.meta)).catch((error: unknown) => {
        if (!(error instanceof CodedError) || !VANISHED.has(error.code)) throw error;
        if (record?.meta.agent === "") throw error;
        problems.push(`${error.message}; the session goes on with the default`);
        return open({});
      });
      record?.update({ cwd: cwd.given });
      if (withReplay) await session.replay();
      this.#open.set(id, { session, giveBack });
      if (this.#isEnding) await this.#end(id, { session, giveBack });
      session.greet([...runtime.warnings, ...problems, ...ignored(params)]);
      return {
        ...session.choices(),
        _meta: {
          demian: {
            sandbox: session.sandbox,
            kept: record !== undefined,
            agentMode: runtime.config.agentMode,
          },
        },
      };
    } catch (error) {
      kept?.record?.close();
      await giveBack();
      throw error;
    }
  }

  async #end(id: string, open: Open): Promise<void> {
    try {
      await open.session.close();
    } finally {
      if (this.#open.get(id)?.session === open.session) {
        this.#open.delete(id);
        await open.giveBack();
      }
    }
  }

  #notice(id: string, problem: string): void {
    this.#open.get(id)?.session.notice(problem);
  }
}

function newMeta(cwd: string): SessionMeta {
  const now = new Date().toISOString();
  return { cwd, agent: "", provider: "", model: "", createdAt: now, updatedAt: now };
}

function keptChoice(meta: SessionMeta | undefined): SessionDefaults {
  if (meta === undefined || meta.agent === "") return {};
  return { agent: meta.agent, provider: meta.provider, model: meta.model };
}
