// The daemon's HTTP API as methods, for Node and browsers. Every method throws a CodedError with the daemon's code and
// message.
import { defined } from "../../base/values.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import type { Backoff } from "../backoff.ts";
import type { RequestsFilter, RespondOptions } from "../requests.ts";
import { withDeadline } from "./deadline.ts";
import { exchangeJson, exchangeText } from "./exchange.ts";
import { type FollowPort, followChanges, followSession } from "./follow.ts";
import { DEFAULT_RETRY, type RetryOptions, retry } from "./retry.ts";
import type { Order, Transport } from "./transport.ts";
import type {
  Action,
  ActionsReply,
  ChangesRange,
  ChangesReply,
  ChangeView,
  DeletedReply,
  EventsOptions,
  EventsPage,
  FamilyReply,
  FileChangesReply,
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
  RequestsReply,
  RespondReply,
  RuleView,
  SessionsFilter,
  SessionsReply,
  SessionView,
  SpawnBody,
  SpawnReply,
  Stats,
  StatsFilter,
  StatusReply,
  StopDaemonReply,
  StoppedReply,
  StreamItem,
  UndoBody,
  UndoReply,
  WaitOptions,
  WaitReply,
  WebLink,
} from "./types.ts";

export interface HttpApiOptions {
  /** The session whose agent makes the calls: sessions it spawns become its children. */
  session_id?: string;
  /** How to reconnect to a daemon that goes away; false disables retries. */
  retry?: Backoff | false;
  /** Retry also if no daemon answers the first attempt: for a client that has seen one. */
  expectsDaemon?: boolean;
  onRetry?: RetryOptions["onRetry"];
}

/** A daemon silent for this long is considered stuck. */
const SILENCE_MS = 30_000;
/** Long waits are split, so that a dead connection is noticed. */
const WAIT_PIECE_S = 25;

/** Many files take time. */
const UNDO_MS = 120_000;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

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

  metrics(): Promise<string> {
    return exchangeText(this.#transport, this.#complete({ method: "GET", path: "/metrics" }));
  }

  /** Safe to repeat: a missing idempotency key is generated, so that a lost connection spawns no duplicate. */
  spawn(body: SpawnBody): Promise<SpawnReply> {
    return this.#sendKeyed("/sessions", body);
  }

  async sessions(filter: SessionsFilter = {}): Promise<SessionView[]> {
    return (await this.sessionsPage(filter)).sessions;
  }

  /** The sessions after `after`, the `next` of the page before. Sessions that become active meanwhile may be missed. */
  sessionsPage({ state, ...filter }: SessionsFilter & { after?: string }): Promise<SessionsReply> {
    const query = { ...filter, ...(state === undefined ? {} : { state: state.join(",") }) };
    return this.#get("/sessions", query);
  }

  session(session_id: string): Promise<SessionView> {
    return this.#get(toPath(session_id));
  }

  async family(session_id: string): Promise<FamilyReply["sessions"]> {
    return (await this.#get<FamilyReply>(toPath(session_id, "family"))).sessions;
  }

  /** null removes the name. */
  rename(session_id: string, name: string | null): Promise<SessionView> {
    return this.#repeat({ method: "PATCH", path: toPath(session_id), body: { name } });
  }

  /** Ends and deletes the session; with `tree` also its descendants. Returns the deleted ids. */
  async remove(session_id: string, { tree = false } = {}): Promise<string[]> {
    const path = withQuery(toPath(session_id), tree ? { tree } : {});
    return (await this.#send<DeletedReply>({ method: "DELETE", path })).deleted;
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

  /** `timeoutMs` also limits the search for a daemon that went away; it then fails with `timeout`. */
  async wait(session_id: string, options: WaitOptions = {}): Promise<WaitReply> {
    const { until = ["idle", "blocked"], message_id, timeoutMs, signal } = options;
    const endMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    for (;;) {
      const leftMs = Math.max(0, endMs - Date.now());
      const timeout_s = Math.min(WAIT_PIECE_S, Math.ceil(leftMs) / 1000);
      const query = { until: until.join(","), message_id, timeout_s };
      const path = withQuery(toPath(session_id, "wait"), query);
      const silenceMs = SILENCE_MS + WAIT_PIECE_S * 1000;
      const order = { method: "GET", path, silenceMs, signal } as const;
      const reply = await (timeoutMs === undefined
        ? this.#repeat<WaitReply>(order)
        : withDeadline(leftMs, signal, (sending, searching) =>
            retry(() => this.#send<WaitReply>({ ...order, signal: sending }), {
              ...this.#retry,
              signal: searching,
            }),
          ));
      if (reply.reason !== "timeout" || Date.now() >= endMs) return reply;
    }
  }

  /** One page; `tree` includes the descendants of `session_id`. */
  requests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestsReply> {
    const { session_id, request_id: _one, ...query } = filter;
    return this.#get(session_id === undefined ? "/requests" : toPath(session_id, "requests"), query);
  }

  /** All pages. */
  async allRequests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestRow[]> {
    const rows: RequestRow[] = [];
    for (let after = filter.after; ; ) {
      const page = await this.requests({ ...filter, ...defined({ after }) });
      rows.push(...page.requests);
      if (page.next === undefined) return rows;
      after = page.next;
    }
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

  /** Newest first. */
  async actions(session_id: string, limit?: number): Promise<Action[]> {
    return (await this.#get<ActionsReply>(toPath(session_id, "actions"), { limit })).actions;
  }

  /** Activity of agents over time, for charts. */
  stats(filter: StatsFilter = {}, signal?: AbortSignal): Promise<Stats> {
    return this.#repeat({ method: "GET", path: withQuery("/stats", { ...filter }), signal });
  }

  /** A one-time link to the dashboard; `port` is used only if the loopback port is not open yet. */
  webLink({ port }: { port?: number } = {}): Promise<WebLink> {
    return this.#send({ method: "POST", path: "/web/links", body: defined({ port }) });
  }

  #get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#repeat({ method: "GET", path: withQuery(path, query) });
  }

  #sendKeyed<T>(path: string, body: { idempotency_key?: string | undefined }): Promise<T> {
    const { idempotency_key = randomKey(), ...rest } = body;
    return this.#repeat({ method: "POST", path, body: { ...rest, idempotency_key } });
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

/** `crypto.randomUUID` exists only in secure contexts; a proxy may serve the dashboard over plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

function toPath(...parts: string[]): string {
  return ["/sessions", ...parts.map(encodeURIComponent)].join("/");
}

function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
