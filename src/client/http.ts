// The HTTP API of the daemon as methods: sessions that nobody owns, their queues, requests and events. Over the same
// Unix socket as `connect`; every method throws a CodedError with the daemon's code and message.
import { randomUUID } from "node:crypto";
import type { Answer, RequestRow } from "../protocol/requests.ts";
import type { Backoff } from "./backoff.ts";
import { findSocket } from "./discover.ts";
import { type Exchange, exchangeJson, exchangeText } from "./http/exchange.ts";
import { type FollowPort, followChanges, followSession } from "./http/follow.ts";
import { inTime } from "./http/in-time.ts";
import { DEFAULT_RETRY, type RetryOptions, retried } from "./http/retry.ts";
import type {
  Action,
  ActionsReply,
  ChangeView,
  DeletedReply,
  EventsOptions,
  EventsPage,
  FamilyReply,
  FollowOptions,
  HealthReply,
  InputBody,
  InputRecord,
  InputReply,
  InterruptReply,
  QueueReply,
  RequestsReply,
  RespondReply,
  SessionsFilter,
  SessionView,
  SpawnBody,
  SpawnReply,
  Stats,
  StatsFilter,
  StoppedReply,
  StreamItem,
  WaitOptions,
  WaitReply,
  WebLink,
} from "./http/types.ts";
import type { RequestsFilter, RespondOptions } from "./requests.ts";

export interface HttpOptions {
  /** The daemon's socket; default where it listens by default. */
  socket?: string;
  /** The session whose agent calls: what it spawns are its children. */
  session_id?: string;
  /** How a daemon that goes away is looked for again; false: not at all. */
  retry?: Backoff | false;
  onRetry?: RetryOptions["onRetry"];
}

/** The daemon must say something in this time, or it is stuck. */
const SILENCE_MS = 30_000;
/** A long wait is asked for in pieces, so that a connection that died unnoticed is noticed. */
const WAIT_PIECE_S = 25;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export class HttpClient {
  readonly socket: string;
  readonly #session_id: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retry: RetryOptions;

  constructor({ socket, session_id, retry = DEFAULT_RETRY, onRetry }: HttpOptions = {}) {
    this.socket = findSocket(socket);
    this.#session_id = session_id;
    this.#headers = session_id === undefined ? {} : { "x-blemees-session": session_id };
    this.#retry = { backoff: retry, onRetry };
  }

  /** The same one that tries nothing again: for who does that, and tells of it (`client/view/source.ts`). */
  withoutRetry(): HttpClient {
    const caller = this.#session_id === undefined ? {} : { session_id: this.#session_id };
    return new HttpClient({ socket: this.socket, ...caller, retry: false });
  }

  health(): Promise<HealthReply> {
    return this.#once({ method: "GET", path: "/health" });
  }

  status(): Promise<Record<string, unknown>> {
    return this.#get("/status");
  }

  metrics(): Promise<string> {
    return exchangeText(this.socket, this.#order({ method: "GET", path: "/metrics" }));
  }

  /** Repeated safely: without a key of the caller's it gets one, so that a cut connection spawns no twin. */
  spawn(body: SpawnBody): Promise<SpawnReply> {
    return this.#keyed("/sessions", body);
  }

  async sessions({ state, ...filter }: SessionsFilter = {}): Promise<SessionView[]> {
    const query = { ...filter, ...(state === undefined ? {} : { state: state.join(",") }) };
    const { sessions } = await this.#get<{ sessions: SessionView[] }>("/sessions", query);
    return sessions;
  }

  session(session_id: string): Promise<SessionView> {
    return this.#get(pathOf(session_id));
  }

  async family(session_id: string): Promise<FamilyReply["sessions"]> {
    return (await this.#get<FamilyReply>(pathOf(session_id, "family"))).sessions;
  }

  /** null takes the name away. */
  rename(session_id: string, name: string | null): Promise<SessionView> {
    return this.#again({ method: "PATCH", path: pathOf(session_id), body: { name } });
  }

  /** Ends and forgets it; with `tree` also all below it. */
  async remove(session_id: string, { tree = false } = {}): Promise<string[]> {
    const path = withQuery(pathOf(session_id), tree ? { tree } : {});
    return (await this.#once<DeletedReply>({ method: "DELETE", path })).deleted;
  }

  interrupt(session_id: string): Promise<InterruptReply> {
    return this.#once({ method: "POST", path: pathOf(session_id, "interrupt"), body: {} });
  }

  async stop(session_id: string, { tree = false } = {}): Promise<string[]> {
    const order = { method: "POST", path: pathOf(session_id, "stop"), body: { tree } } as const;
    return (await this.#again<StoppedReply>(order)).stopped;
  }

  /** Puts a message into the session's queue. Repeated safely, as `spawn`. */
  input(session_id: string, body: InputBody): Promise<InputReply> {
    return this.#keyed(pathOf(session_id, "input"), body);
  }

  queue(session_id: string): Promise<QueueReply> {
    return this.#get(pathOf(session_id, "queue"));
  }

  cancelInput(session_id: string, message_id: string): Promise<InputRecord> {
    return this.#once({ method: "DELETE", path: pathOf(session_id, "queue", message_id) });
  }

  /** One page behind the cursor; `history_gap` says when something is missing before it. */
  events(session_id: string, options: EventsOptions = {}): Promise<EventsPage> {
    const { since_seq, limit, wait_s, signal } = options;
    const path = withQuery(pathOf(session_id, "events"), { since_seq, limit, wait_s });
    const silenceMs = SILENCE_MS + (wait_s ?? 0) * 1000;
    return this.#again({ method: "GET", path, silenceMs, signal });
  }

  /** Each event once and in order, also across a restart of the daemon. */
  follow(session_id: string, options: FollowOptions = {}): AsyncGenerator<StreamItem, void> {
    return followSession(this.#port(), session_id, options);
  }

  /** What changes in any session: for dashboards. */
  changes(signal?: AbortSignal): AsyncGenerator<ChangeView, void> {
    return followChanges(this.#port(), signal);
  }

  /** With `timeoutMs` also a daemon that goes away is looked for no longer than that; then it fails with `timeout`. */
  async wait(session_id: string, options: WaitOptions = {}): Promise<WaitReply> {
    const { until = ["idle", "blocked"], message_id, timeoutMs, signal } = options;
    const endMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    for (;;) {
      const leftMs = Math.max(0, endMs - Date.now());
      const timeout_s = Math.min(WAIT_PIECE_S, Math.ceil(leftMs) / 1000);
      const query = { until: until.join(","), message_id, timeout_s };
      const path = withQuery(pathOf(session_id, "wait"), query);
      const silenceMs = SILENCE_MS + WAIT_PIECE_S * 1000;
      const order = { method: "GET", path, silenceMs, signal } as const;
      const reply = await (timeoutMs === undefined
        ? this.#again<WaitReply>(order)
        : inTime(leftMs, signal, (ask, retry) =>
            retried(() => this.#once<WaitReply>({ ...order, signal: ask }), {
              ...this.#retry,
              signal: retry,
            }),
          ));
      if (reply.reason !== "timeout" || Date.now() >= endMs) return reply;
    }
  }

  /** One page; `tree` also has those of all sessions below `session_id`. */
  requests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestsReply> {
    const { session_id, request_id: _one, ...query } = filter;
    return this.#get(session_id === undefined ? "/requests" : pathOf(session_id, "requests"), query);
  }

  /** All pages. */
  async allRequests(filter: RequestsFilter & { tree?: boolean } = {}): Promise<RequestRow[]> {
    const rows: RequestRow[] = [];
    for (let after = filter.after; ; ) {
      const page = await this.requests({ ...filter, ...(after === undefined ? {} : { after }) });
      rows.push(...page.requests);
      if (page.next === undefined) return rows;
      after = page.next;
    }
  }

  /** Whole, whatever its state. */
  request(session_id: string, request_id: string): Promise<RequestRow> {
    return this.#get(pathOf(session_id, "requests", request_id));
  }

  respond(
    session_id: string,
    request_id: string,
    answer: Answer,
    how: RespondOptions = {},
  ): Promise<RespondReply> {
    const path = pathOf(session_id, "requests", request_id, "respond");
    return this.#again({ method: "POST", path, body: { ...answer, ...how } });
  }

  /** The newest first. */
  async actions(session_id: string, limit?: number): Promise<Action[]> {
    return (await this.#get<ActionsReply>(pathOf(session_id, "actions"), { limit })).actions;
  }

  /** What agents did over time, for charts. */
  stats(filter: StatsFilter = {}): Promise<Stats> {
    return this.#get("/stats", { ...filter });
  }

  /** A link that opens the dashboard once; `port` counts only when the loopback port is not open yet. */
  webLink({ port }: { port?: number } = {}): Promise<WebLink> {
    return this.#once({ method: "POST", path: "/web/links", body: port === undefined ? {} : { port } });
  }

  #get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#again({ method: "GET", path: withQuery(path, query) });
  }

  #keyed<T>(path: string, body: { idempotency_key?: string | undefined }): Promise<T> {
    const { idempotency_key = randomUUID(), ...rest } = body;
    return this.#again({ method: "POST", path, body: { ...rest, idempotency_key } });
  }

  /** For what may be carried out twice. */
  #again<T>(order: Order): Promise<T> {
    return retried(() => this.#once<T>(order), { ...this.#retry, signal: order.signal });
  }

  #once<T>(order: Order): Promise<T> {
    return exchangeJson(this.socket, this.#order(order));
  }

  #order(order: Order): Exchange {
    return { silenceMs: SILENCE_MS, ...order, headers: this.#headers };
  }

  #port(): FollowPort {
    return { socket: this.socket, headers: this.#headers, retry: this.#retry };
  }
}

type Order = Omit<Exchange, "silenceMs" | "headers"> & { silenceMs?: number };

function pathOf(...parts: string[]): string {
  return ["/sessions", ...parts.map(encodeURIComponent)].join("/");
}

function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
