// The daemon's HTTP API as methods, for Node and browsers. Every method throws a CodedError with the daemon's code and
// message.
import { defined } from "../../base/values.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import type { RequestsFilter, RespondOptions } from "../requests.ts";
import { readAllRequests } from "./all-requests.ts";
import { exchangeJson, exchangeText } from "./exchange.ts";
import { type FollowPort, followChanges, followSession } from "./follow.ts";
import type { HttpApiOptions } from "./options.ts";
import { type Query, toPath, withQuery } from "./paths.ts";
import { type Keyed, withKey } from "./random-key.ts";
import { DEFAULT_RETRY, type RetryOptions, retry } from "./retry.ts";
import type { Order, Transport } from "./transport.ts";
import type {
  Action,
  ActionsReply,
  ChangeBody,
  ChangesRange,
  ChangesReply,
  ChangeView,
  DaemonLogReply,
  DeletedReply,
  EventsOptions,
  EventsPage,
  FamilyReply,
  FileChangesReply,
  FilesReply,
  FollowOptions,
  HealthReply,
  InputBody,
  InputRecord,
  InputReply,
  InterruptReply,
  PolicyPreview,
  PolicyRule,
  PolicyVerdict,
  PolicyView,
  QueueReply,
  QuotaBody,
  QuotaReply,
  RemovedWorktree,
  RequestsReply,
  RespondReply,
  RestartDaemonReply,
  ResumeReply,
  RuleView,
  SearchFilter,
  SearchReply,
  SessionsFilter,
  SessionsReply,
  SessionView,
  SettingsChange,
  SettingsReply,
  SpawnBody,
  SpawnReply,
  Stats,
  StatsFilter,
  StatusReply,
  StopDaemonReply,
  StoppedReply,
  StreamItem,
  TranscriptEventsQuery,
  TranscriptPage,
  TranscriptsFilter,
  TranscriptsReply,
  TranscriptView,
  UndoBody,
  UndoReply,
  UsageFilter,
  UsageReply,
  WaitOptions,
  WaitReply,
  WebLink,
  WorktreesReply,
  WorktreeView,
} from "./types.ts";
import { waitInPieces } from "./wait.ts";

/** A daemon silent for this long is considered stuck. */
const SILENCE_MS = 30_000;
/** A set-up command of a worktree may take 15 minutes. */
const SET_UP_MS = 20 * 60_000;
/** Many files take time. */
const UNDO_MS = 120_000;

export class HttpApi {
  readonly #transport: Transport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retry: RetryOptions;

  constructor(transport: Transport, options: HttpApiOptions = {}) {
    const { session_id, retry = DEFAULT_RETRY, expectsDaemon, onRetry } = options;
    this.#transport = transport;
    this.#headers = defined({ "x-blemees-session": session_id });
    this.#retry = { backoff: retry, expectsDaemon, onRetry };
  }

  health(signal?: AbortSignal): Promise<HealthReply> {
    return this.#send({ method: "GET", path: "/health", signal });
  }

  status(): Promise<StatusReply> {
    return this.#get("/status");
  }

  /** The reply comes before the daemon stops. `leave_agents`: they keep running, and the next daemon continues with them. */
  stopDaemon(body: { leave_agents?: boolean } = {}): Promise<StopDaemonReply> {
    return this.#send({ method: "POST", path: "/daemon/stop", body });
  }

  /** The installed version replaces the running one; the reply comes before that. Throws `supervised`, `restart_failed`. */
  restartDaemon(): Promise<RestartDaemonReply> {
    return this.#send({ method: "POST", path: "/daemon/restart", body: {} });
  }

  /** The end of its log. Throws `no_log`. */
  daemonLog(query: { lines?: number } = {}): Promise<DaemonLogReply> {
    return this.#get("/daemon/log", query);
  }

  metrics(): Promise<string> {
    return exchangeText(this.#transport, this.#complete({ method: "GET", path: "/metrics" }));
  }

  /** Safe to repeat: a missing idempotency key is generated, so that a lost connection spawns no duplicate. */
  spawn(body: SpawnBody): Promise<SpawnReply> {
    // A new worktree is checked out and set up before the reply.
    return this.#sendKeyed("/sessions", body, body.worktree === undefined ? SILENCE_MS : SET_UP_MS);
  }

  async sessions(filter: SessionsFilter = {}): Promise<SessionView[]> {
    return (await this.sessionsPage(filter)).sessions;
  }

  /** The sessions after `after`, the `next` of the page before. Sessions that become active meanwhile may be missed. */
  sessionsPage({ state, labels, ...filter }: SessionsFilter & { after?: string }): Promise<SessionsReply> {
    return this.#get("/sessions", { ...filter, state: state?.join(","), label: labels?.join(",") });
  }

  session(session_id: string): Promise<SessionView> {
    return this.#get(toPath(session_id));
  }

  async family(session_id: string): Promise<FamilyReply["sessions"]> {
    return (await this.#get<FamilyReply>(toPath(session_id, "family"))).sessions;
  }

  /** null removes the name. */
  rename(session_id: string, name: string | null): Promise<SessionView> {
    return this.change(session_id, { name });
  }

  /** Changes its name and labels, or archives it. What is absent stays. Throws `session_busy`. */
  change(session_id: string, change: ChangeBody): Promise<SessionView> {
    return this.#repeat({ method: "PATCH", path: toPath(session_id), body: change });
  }

  /** What it is set to, what can be chosen, and the agent's own commands. */
  settings(session_id: string): Promise<SettingsReply> {
    return this.#get(toPath(session_id, "settings"));
  }

  /** Throws `setting_refused`. */
  adjust(session_id: string, change: SettingsChange): Promise<SettingsReply> {
    return this.#repeat({ method: "PATCH", path: toPath(session_id, "settings"), body: change });
  }

  /** Ends and deletes the session; with `tree` also its descendants. Returns the deleted ids. */
  async remove(session_id: string, { tree = false } = {}): Promise<string[]> {
    const path = withQuery(toPath(session_id), tree ? { tree } : {});
    return (await this.#send<DeletedReply>({ method: "DELETE", path })).deleted;
  }

  /** Delivers queued messages of a stopped or held session now. */
  resumeQueue(session_id: string): Promise<ResumeReply> {
    return this.#repeat({ method: "POST", path: toPath(session_id, "resume"), body: {} });
  }

  interrupt(session_id: string): Promise<InterruptReply> {
    return this.#send({ method: "POST", path: toPath(session_id, "interrupt"), body: {} });
  }

  async stop(session_id: string, { tree = false } = {}): Promise<string[]> {
    const order = { method: "POST", path: toPath(session_id, "stop"), body: { tree } } as const;
    return (await this.#repeat<StoppedReply>(order)).stopped;
  }

  /** Queues a message. Safe to repeat, like `spawn`. */
  input(session_id: string, body: InputBody): Promise<InputReply> {
    return this.#sendKeyed(toPath(session_id, "input"), body);
  }

  queue(session_id: string): Promise<QueueReply> {
    return this.#get(toPath(session_id, "queue"));
  }

  cancelInput(session_id: string, message_id: string): Promise<InputRecord> {
    return this.#send({ method: "DELETE", path: toPath(session_id, "queue", message_id) });
  }

  /** One page of events after `since_seq`; `history_gap` reports missing events before it. */
  events(session_id: string, options: EventsOptions = {}): Promise<EventsPage> {
    const { since_seq, limit, wait_s, signal } = options;
    const path = withQuery(toPath(session_id, "events"), { since_seq, limit, wait_s });
    const silenceMs = SILENCE_MS + (wait_s ?? 0) * 1000;
    return this.#repeat({ method: "GET", path, silenceMs, signal });
  }

  /** Every event once and in order, even if the daemon restarts. */
  follow(session_id: string, options: FollowOptions = {}): AsyncGenerator<StreamItem, void> {
    return followSession(this.#port(), session_id, options);
  }

  /** Changes of all sessions, for dashboards. */
  changes(signal?: AbortSignal): AsyncGenerator<ChangeView, void> {
    return followChanges(this.#port(), signal);
  }

  /** Which files the session's turns changed; one page. */
  sessionChanges(
    session_id: string,
    query: ChangesRange & { limit?: number; after?: string } = {},
  ): Promise<ChangesReply> {
    return this.#get(toPath(session_id, "changes"), { ...query });
  }

  /** The changed lines of one file. */
  fileChanges(
    session_id: string,
    query: ChangesRange & { path: string; path_b64?: string },
  ): Promise<FileChangesReply> {
    return this.#get(toPath(session_id, "changes", "file"), { ...query });
  }

  /** Gives files the content that they had before a turn. */
  undo(session_id: string, body: UndoBody = {}): Promise<UndoReply> {
    return this.#send({ method: "POST", path: toPath(session_id, "undo"), body, silenceMs: UNDO_MS });
  }

  /** Files of the session's directory whose names match, best first. */
  files(session_id: string, query: { match?: string; limit?: number } = {}): Promise<FilesReply> {
    return this.#get(toPath(session_id, "files"), query);
  }

  /** `timeoutMs` also limits the search for a daemon that went away; it then fails with `timeout`. */
  wait(session_id: string, options: WaitOptions = {}): Promise<WaitReply> {
    const port = { silenceMs: SILENCE_MS, send: (order: Order) => this.#send<WaitReply>(order) };
    return waitInPieces({ ...port, session_id, retry: this.#retry }, options);
  }

  /** One page; `tree` includes the descendants of `session_id`. */
  requests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestsReply> {
    const { session_id, request_id: _one, ...query } = filter;
    return this.#get(session_id === undefined ? "/requests" : toPath(session_id, "requests"), query);
  }

  /** All pages. */
  async allRequests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestRow[]> {
    return (await this.inbox(filter)).requests;
  }

  /** All pages, with the sessions that ask. */
  inbox(filter: RequestsFilter & { tree?: boolean } = {}): Promise<Omit<RequestsReply, "next">> {
    return readAllRequests((query) => this.requests(query), filter);
  }

  /** In full, in any state. */
  request(session_id: string, request_id: string): Promise<RequestRow> {
    return this.#get(toPath(session_id, "requests", request_id));
  }

  respond(
    session_id: string,
    request_id: string,
    answer: Answer,
    how: RespondOptions = {},
  ): Promise<RespondReply> {
    const path = toPath(session_id, "requests", request_id, "respond");
    return this.#repeat({ method: "POST", path, body: { ...answer, ...how } });
  }

  /** The rules for approvals. */
  policy(): Promise<PolicyView> {
    return this.#get("/policy");
  }

  /** Throws `policy_invalid`, `rule_exists`. */
  addRule(rule: { id: string }): Promise<RuleView> {
    return this.#send({ method: "POST", path: "/policy/rules", body: rule });
  }

  removeRule(rule_id: string): Promise<PolicyRule> {
    return this.#send({ method: "DELETE", path: `/policy/rules/${encodeURIComponent(rule_id)}` });
  }

  /** Which of the latest requests the rule would have decided. Saves nothing. */
  previewRule(rule: { id: string }): Promise<PolicyPreview> {
    return this.#repeat({ method: "POST", path: "/policy/preview", body: rule });
  }

  /** What the rules say about a request now. */
  explainRequest(session_id: string, request_id: string): Promise<PolicyVerdict> {
    return this.#get(toPath(session_id, "requests", request_id, "policy"));
  }

  /** Rules that would have given the request's answer, narrowest first. */
  async suggestRules(session_id: string, request_id: string): Promise<PolicyPreview[]> {
    const path = toPath(session_id, "requests", request_id, "rules");
    return (await this.#get<{ suggestions: PolicyPreview[] }>(path)).suggestions;
  }

  /** Worktrees that sessions were started in. */
  async worktrees(): Promise<WorktreeView[]> {
    return (await this.#get<WorktreesReply>("/worktrees")).worktrees;
  }

  /** By name or path. Throws `worktree_refused` if something would be lost. */
  async removeWorktree(name: string): Promise<RemovedWorktree> {
    const order = { method: "POST", path: "/worktrees/remove", body: { name } } as const;
    return (await this.#send<{ removed: RemovedWorktree }>(order)).removed;
  }

  /** Sessions that were started outside: the agents' own transcripts. One page. `spawn` continues one. */
  transcripts(filter: TranscriptsFilter = {}): Promise<TranscriptsReply> {
    return this.#get("/transcripts", { ...filter });
  }

  /** Throws `transcript_unknown`. */
  transcript(session_id: string, query: { agent?: string } = {}): Promise<TranscriptView> {
    return this.#get(`/transcripts/${encodeURIComponent(session_id)}`, query);
  }

  /** What was said and done in it, after `since_seq`; `tail`: the last events instead. */
  transcriptEvents(session_id: string, query: TranscriptEventsQuery = {}): Promise<TranscriptPage> {
    return this.#get(`/transcripts/${encodeURIComponent(session_id)}/events`, { ...query });
  }

  /** Newest first. */
  async actions(session_id: string, limit?: number): Promise<Action[]> {
    return (await this.#get<ActionsReply>(toPath(session_id, "actions"), { limit })).actions;
  }

  /** Activity of agents over time, for charts. */
  stats(filter: StatsFilter = {}, signal?: AbortSignal): Promise<Stats> {
    return this.#repeat({ method: "GET", path: withQuery("/stats", { ...filter }), signal });
  }

  /** What turns used, by day, agent, project or session. */
  usage(filter: UsageFilter = {}, signal?: AbortSignal): Promise<UsageReply> {
    return this.#repeat({ method: "GET", path: withQuery("/usage", { ...filter }), signal });
  }

  /** Texts of the history of sessions, best first. */
  search(filter: SearchFilter, signal?: AbortSignal): Promise<SearchReply> {
    return this.#repeat({
      method: "GET",
      path: withQuery("/search", { ...filter, role: filter.role?.join() }),
      signal,
    });
  }

  /** `refresh`: the running agents are asked first. */
  quota({ refresh = false } = {}): Promise<QuotaReply> {
    return refresh ? this.#send({ method: "POST", path: "/quota/refresh", body: {} }) : this.#get("/quota");
  }

  orderQuota(session_id: string, body: QuotaBody): Promise<SessionView> {
    return this.#send({ method: "POST", path: toPath(session_id, "quota"), body });
  }

  /** A one-time link to the dashboard; `port` is used only if the loopback port is not open yet. */
  webLink({ port }: { port?: number } = {}): Promise<WebLink> {
    return this.#send({ method: "POST", path: "/web/links", body: defined({ port }) });
  }

  #get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#repeat({ method: "GET", path: withQuery(path, query) });
  }

  #sendKeyed<T>(path: string, body: Keyed, silenceMs = SILENCE_MS): Promise<T> {
    return this.#repeat({ method: "POST", path, body: withKey(body), silenceMs });
  }

  /** For requests that are safe to repeat. */
  #repeat<T>(order: Order): Promise<T> {
    return retry(() => this.#send<T>(order), { ...this.#retry, signal: order.signal });
  }

  #send<T>(order: Order): Promise<T> {
    return exchangeJson(this.#transport, this.#complete(order));
  }

  #complete(order: Order): Order {
    return { silenceMs: SILENCE_MS, ...order, headers: this.#headers };
  }

  #port(): FollowPort {
    return { transport: this.#transport, headers: this.#headers, retry: this.#retry };
  }
}
