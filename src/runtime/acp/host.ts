// Opens, finds and closes the sessions of one connection.
import { resolve } from "node:path";
import type {
  AgentContext,
  ClientCapabilities,
  ListSessionsRequest,
  ListSessionsResponse,
} from "@agentclientprotocol/sdk";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { KeyedLock } from "../../base/keyed-lock.ts";
import type { SessionMeta, SessionRecord } from "../conversations/record.ts";
import type { SessionStore } from "../conversations/store.ts";
import type { Message } from "../messages.ts";
import type { SessionOrder } from "../session-types.ts";
import type { Choices } from "./choices.ts";
import { promptRunningError, unknownSessionError } from "./errors.ts";
import {
  type Cwd,
  checkCwd,
  listIgnoredParams,
  type OpenParams,
  readAgentMode,
  readInitialChoice,
  readMcpServers,
  readSessionOptions,
} from "./open-params.ts";
import type { Runtimes } from "./runtimes.ts";
import { AcpSession } from "./session.ts";

/** Defaults from the program's flags. */
export type SessionDefaults = Pick<
  SessionOrder,
  "agent" | "provider" | "model" | "effort" | "yes" | "dryRun" | "transcript"
>;

export interface HostOptions {
  store: SessionStore;
  runtimes: Runtimes;
  defaults: SessionDefaults;
  /** For problems that cannot be sent to the client. */
  warn(message: string): void;
}

/** The response to session/new, load and resume. */
export type OpenAnswer = Choices & { _meta: Record<string, unknown> };

interface Opening {
  id: string;
  cwd: Cwd;
  params: OpenParams;
  client: AgentContext;
  withReplay: boolean;
}

interface StoredState {
  record: SessionRecord | undefined;
  history: readonly Message[];
  problems: string[];
}

interface Open {
  session: AcpSession;
  giveBack(): Promise<void>;
}

const PAGE = 100;
/** The stored agent or provider may no longer exist; then the session continues with the defaults. */
const STALE_CHOICE_CODES = new Set(["unknown_agent", "unknown_provider"]);

export class AcpHost {
  readonly #options: HostOptions;
  readonly #open = new Map<string, Open>();
  readonly #locks = new KeyedLock();
  #capabilities: ClientCapabilities = {};
  #isEnding = false;
  /** Once per process; failures are ignored. */
  #pruned: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  setCapabilities(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities;
  }

  async create(params: OpenParams, client: AgentContext): Promise<OpenAnswer & { sessionId: string }> {
    const cwd = await checkCwd(params.cwd);
    const id = this.#options.store.newId();
    const answer = await this.#begin({ id, cwd, params, client, withReplay: false }, async () => {
      const problems: string[] = [];
      const record = await this.#options.store
        .create(id, newMeta(cwd.given), (problem) => this.#notice(id, problem))
        .catch((error: unknown) => {
          problems.push(`the session is not stored and cannot be resumed: ${toMessage(error)}`);
          return undefined;
        });
      return { record, history: [], problems };
    }).catch(async (error: unknown) => {
      // The session is empty; leaving it behind is harmless.
      await this.#options.store.remove(id).catch(() => undefined);
      throw error;
    });
    this.#pruned ??= this.#options.store.prune(Date.now()).catch(() => undefined);
    return { sessionId: id, ...answer };
  }

  /** session/load with replay, session/resume without. */
  async load(id: string, params: OpenParams, client: AgentContext, withReplay: boolean): Promise<OpenAnswer> {
    const cwd = await checkCwd(params.cwd);
    const unlock = await this.#locks.lock(id);
    try {
      if (!this.#options.store.has(id)) throw unknownSessionError(id);
      const before = this.#open.get(id);
      if (before?.session.isBusy) throw promptRunningError("load it");
      // Reopen it: directory or environment may differ.
      if (before !== undefined) await this.#end(id, before);
      return await this.#begin({ id, cwd, params, client, withReplay }, async () => {
        const opened = await this.#options.store.open(id, newMeta(cwd.given), (problem) =>
          this.#notice(id, problem),
        );
        if (opened === undefined) throw unknownSessionError(id);
        const { record, history, lostLines } = opened;
        const problems =
          lostLines === 0 ? [] : [`${lostLines} lines of the stored history could not be read`];
        return { record, history, problems };
      });
    } finally {
      unlock();
    }
  }

  /** Throws -32002. */
  get(id: string): AcpSession {
    const open = this.#open.get(id);
    if (open === undefined) throw unknownSessionError(id);
    return open.session;
  }

  find(id: string): AcpSession | undefined {
    return this.#open.get(id)?.session;
  }

  async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { store } = this.#options;
    const wanted = cwd ? await store.listIn(resolve(cwd)) : await store.list();
    const from = cursor ? wanted.findIndex(({ id }) => id === cursor) + 1 : 0;
    const page = wanted.slice(from, from + PAGE);
    const last = page.at(-1);
    return {
      sessions: page.map(({ id, cwd: where, title, name = title, updatedAt }) => ({
        sessionId: id,
        cwd: where,
        updatedAt,
        ...(name !== undefined && { title: name }),
      })),
      ...(last !== undefined && from + PAGE < wanted.length && { nextCursor: last.id }),
    };
  }

  async close(id: string): Promise<void> {
    // Cancel before waiting for the lock, which a session/load may hold.
    this.#open.get(id)?.session.cancel();
    const unlock = await this.#locks.lock(id);
    try {
      const open = this.#open.get(id);
      if (open === undefined) throw unknownSessionError(id);
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
      const existed = await this.#options.store.remove(id);
      if (!existed && open === undefined) throw unknownSessionError(id);
    } finally {
      unlock();
    }
  }

  /** Closes all sessions and opens no more. */
  async shutdown(): Promise<void> {
    this.#isEnding = true;
    for (const { session } of this.#open.values()) session.cancel();
    await Promise.allSettled([...this.#open].map(([id, open]) => this.#end(id, open)));
    await this.#pruned;
  }

  async #begin(opening: Opening, read: () => Promise<StoredState>): Promise<OpenAnswer> {
    const { id, cwd, params, client, withReplay } = opening;
    const asked = readSessionOptions(params._meta);
    const mcpServers = readMcpServers(params);
    const agentMode = readAgentMode(params._meta);
    if (this.#isEnding) throw new CodedError("ending", "demian is shutting down");
    const { runtime, giveBack } = await this.#options.runtimes.borrow(cwd.real, agentMode);
    let stored: StoredState | undefined;
    try {
      stored = await read();
      const { record, history, problems } = stored;
      const open = (choice: SessionDefaults) =>
        AcpSession.open({
          id,
          cwd: cwd.given,
          runtime,
          client,
          capabilities: this.#capabilities,
          warn: (message) => this.#options.warn(message),
          record,
          choice: {
            ...this.#options.defaults,
            ...choice,
            ...readInitialChoice(params._meta, runtime.providers),
            ...asked,
            ...(mcpServers.length > 0 && { mcpServers }),
            ...(history.length > 0 && { history }),
          },
        });
      const session = await open(readStoredChoice(record?.meta)).catch((error: unknown) => {
        if (!(error instanceof CodedError) || !STALE_CHOICE_CODES.has(error.code)) throw error;
        if (record?.meta.agent === "") throw error;
        problems.push(`${error.message}; the session continues with the default`);
        return open({});
      });
      record?.update({ cwd: cwd.given });
      if (withReplay) await session.replay();
      this.#open.set(id, { session, giveBack });
      if (this.#isEnding) await this.#end(id, { session, giveBack });
      session.sendInitial([...runtime.warnings, ...problems, ...listIgnoredParams(params)]);
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
      stored?.record?.close();
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

function readStoredChoice(meta: SessionMeta | undefined): SessionDefaults {
  if (meta === undefined || meta.agent === "") return {};
  return { agent: meta.agent, provider: meta.provider, model: meta.model };
}
