// The sessions of one editor. Its new sessions are archived when it leaves without having written to them: editors open a
// session with every window.
import type {
  ContentBlock,
  ListSessionsResponse,
  NewSessionResponse,
  SessionConfigOption,
  SessionInfo,
} from "@agentclientprotocol/sdk";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";
import { pollUntilDetected } from "../../client/view/detected.ts";
import { AttachedSession, type SentPrompt } from "./attached.ts";
import type { EditorPort } from "./editor-port.ts";
import { invalidParamsError } from "./errors.ts";
import { toUserMessage } from "./prompt.ts";

export interface EditorOptions {
  http: HttpClient;
  port: EditorPort;
  /** The agent of new sessions, if the user chose one. */
  agent: string | undefined;
  warn(message: string): void;
}

const AGENT_OPTION = "agent";
const PAGE = 50;
/** The first that is installed runs new sessions. */
const PREFERRED = ["claude", "codex", "demian"];

export class EditorSessions {
  readonly #options: EditorOptions;
  /** New ones without a prompt: their agent can still be changed. */
  readonly #unused = new Set<string>();
  readonly #attached = new Map<string, AttachedSession>();
  #agents: Promise<readonly string[]> | undefined;
  canFill = false;

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  async create({
    cwd,
    mcpServers,
  }: {
    cwd: string;
    mcpServers?: readonly unknown[];
  }): Promise<NewSessionResponse> {
    if (!cwd.startsWith("/")) throw invalidParamsError(`cwd must be an absolute path, not "${cwd}"`);
    this.#warnAboutServers(mcpServers);
    const agents = await this.#listAgents();
    const agent = this.#options.agent ?? PREFERRED.find((name) => agents.includes(name)) ?? agents[0];
    if (agent === undefined) {
      throw invalidParamsError("no agent is installed; `blemees doctor` says what to install");
    }
    const { session } = await this.#options.http.spawn({ backend: agent, cwd });
    this.#unused.add(session.session_id);
    this.#attach(session, 0);
    return { sessionId: session.session_id, configOptions: toConfigOptions(agent, agents) };
  }

  /** Only the agent can be chosen, before the first prompt. */
  async configure(sessionId: string, configId: string, value: unknown): Promise<SessionConfigOption[]> {
    if (configId !== AGENT_OPTION)
      throw invalidParamsError(`no option "${configId}"; known: ${AGENT_OPTION}`);
    const { http } = this.#options;
    const { backend, cwd } = await http.session(sessionId);
    if (value === backend) return this.#listOptions(sessionId, backend);
    if (!this.#unused.has(sessionId)) {
      throw invalidParamsError(
        "the agent of a session cannot be changed after its first prompt; start a new session",
      );
    }
    const agents = await this.#listAgents();
    if (typeof value !== "string" || !agents.includes(value)) {
      throw invalidParamsError(`no agent "${String(value)}"; installed: ${agents.join(", ")}`);
    }
    await this.#attached.get(sessionId)?.close();
    await http.remove(sessionId);
    const { session } = await http.spawn({ backend: value, session_id: sessionId, ...defined({ cwd }) });
    this.#attach(session, 0);
    return toConfigOptions(value, agents);
  }

  /** `isReplayed`: sends the whole history first. */
  async load(
    sessionId: string,
    { isReplayed, mcpServers }: { isReplayed: boolean; mcpServers?: readonly unknown[] | undefined },
  ): Promise<{ configOptions: SessionConfigOption[] }> {
    this.#warnAboutServers(mcpServers);
    const view = await this.#options.http.session(sessionId);
    await this.#attached.get(sessionId)?.close();
    const attached = this.#attach(view, isReplayed ? 0 : view.last_seq);
    await attached.replayed;
    return { configOptions: await this.#listOptions(sessionId, view.backend) };
  }

  async list({
    cwd,
    cursor,
  }: {
    cwd?: string | null;
    cursor?: string | null;
  }): Promise<ListSessionsResponse> {
    const { sessions, next } = await this.#options.http.sessionsPage({
      archived: false,
      limit: PAGE,
      ...defined({ cwd: cwd ?? undefined, after: cursor ?? undefined }),
    });
    return { sessions: sessions.map(toInfo), ...defined({ nextCursor: next }) };
  }

  async prompt(sessionId: string, blocks: readonly ContentBlock[]): Promise<SentPrompt> {
    const message = toUserMessage(blocks);
    const session = await this.#find(sessionId);
    this.#unused.delete(sessionId);
    return session.prompt(message);
  }

  async cancel(sessionId: string): Promise<void> {
    await this.#attached.get(sessionId)?.cancel();
  }

  /** The session continues in the daemon. */
  async detach(sessionId: string): Promise<void> {
    await this.#attached.get(sessionId)?.close();
    this.#attached.delete(sessionId);
    if (!this.#unused.delete(sessionId)) return;
    const { http } = this.#options;
    try {
      await http.stop(sessionId);
      await http.change(sessionId, { archived: true });
    } catch {
      // It stays in the list; another client may be using or have deleted it.
    }
  }

  async remove(sessionId: string): Promise<void> {
    this.#unused.delete(sessionId);
    await this.detach(sessionId);
    await this.#options.http.remove(sessionId);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#attached.keys()].map((sessionId) => this.detach(sessionId)));
  }

  /** The agent of a session that was used is fixed. */
  async #listOptions(sessionId: string, agent: string): Promise<SessionConfigOption[]> {
    return toConfigOptions(agent, this.#unused.has(sessionId) ? await this.#listAgents() : [agent]);
  }

  /** A prompt may come without a load: then only what follows is shown. */
  async #find(sessionId: string): Promise<AttachedSession> {
    const known = this.#attached.get(sessionId);
    if (known !== undefined) return known;
    const view = await this.#options.http.session(sessionId);
    return this.#attached.get(sessionId) ?? this.#attach(view, view.last_seq);
  }

  #attach({ session_id, cwd, last_seq, turn }: SessionView, since_seq: number): AttachedSession {
    const { http, port, warn } = this.#options;
    const attached = new AttachedSession({
      http,
      port,
      session_id,
      cwd,
      canFill: this.canFill,
      since_seq,
      last_seq,
      isWorking: turn !== undefined,
      warn,
    });
    this.#attached.set(session_id, attached);
    return attached;
  }

  #listAgents(): Promise<readonly string[]> {
    const { http, agent } = this.#options;
    this.#agents ??= pollUntilDetected(() => http.status()).then(({ backends }) => [
      // The demo is not among them if there are others, but can be chosen.
      ...new Set([...Object.keys(backends), ...(agent === undefined ? [] : [agent])]),
    ]);
    this.#agents.catch((error: unknown) => {
      this.#agents = undefined;
      this.#options.warn(toMessage(error));
    });
    return this.#agents;
  }

  /** They are programs that the editor names; only the daemon's own settings may do that. */
  #warnAboutServers(servers: readonly unknown[] = []): void {
    if (servers.length > 0)
      this.#options.warn(`${servers.length} MCP servers of the editor are not passed to agents`);
  }
}

function toConfigOptions(agent: string, agents: readonly string[]): SessionConfigOption[] {
  return [
    {
      id: AGENT_OPTION,
      name: "Agent",
      type: "select",
      currentValue: agent,
      options: agents.map((name) => ({ value: name, name })),
    },
  ];
}

function toInfo(view: SessionView): SessionInfo {
  const { session_id, cwd, project, name, title, backend, activity_state, pending_requests } = view;
  return {
    sessionId: session_id,
    cwd: cwd ?? project ?? "/",
    ...defined({ title: name ?? title }),
    updatedAt: new Date(view.last_active_at_ms).toISOString(),
    _meta: { blemees: { agent: backend, state: activity_state, pending_requests } },
  };
}
