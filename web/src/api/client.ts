// The daemon's HTTP API as the page uses it: what a view needs (ViewPort), and what a person does.
import type {
  InputBody,
  InputRecord,
  InputReply,
  QueueReply,
  RequestsReply,
  RespondReply,
  SpawnBody,
  SpawnReply,
} from "../../../src/client/http/types.ts";
import { untilDetected } from "../../../src/client/view/detected.ts";
import type {
  ChangeView,
  EventsPage,
  RequestRow,
  SessionView,
  StreamItem,
} from "../../../src/client/view/port.ts";
import type { Answer } from "../../../src/client/view/types.ts";
import type { Stats } from "../../../src/protocol/stats.ts";
import type { Api, DaemonStatus, StatsQuery } from "../app-types.ts";
import { type Slots, UNLIMITED } from "./slots.ts";
import { followChanges, followSession, type StreamPort } from "./streams.ts";
import { ApiError, call, type Order, type Transport } from "./transport.ts";

export interface ClientOptions extends Transport {
  slots?: Slots;
  pollMs?: number;
}

const POLL_MS = 1_000;
/** A message that was cut on its way is sent again with the same key: the daemon takes it once. */
const KEYED_ATTEMPTS = 3;

export class WebClient implements Api {
  readonly #transport: Transport;
  readonly #streams: StreamPort;

  constructor({ slots = UNLIMITED, pollMs = POLL_MS, ...transport }: ClientOptions) {
    this.#transport = transport;
    this.#streams = { transport, slots, pollMs };
  }

  async sessions(): Promise<SessionView[]> {
    return (await this.#call<{ sessions: SessionView[] }>({ path: "/sessions" })).sessions;
  }

  session(session_id: string): Promise<SessionView> {
    return this.#call({ path: pathOf(session_id) });
  }

  events(
    session_id: string,
    { since_seq, limit, signal }: { since_seq: number; limit: number; signal: AbortSignal },
  ): Promise<EventsPage> {
    return this.#call({ path: pathOf(session_id, "events"), query: { since_seq, limit }, signal });
  }

  follow(
    session_id: string,
    options: { since_seq: number; signal: AbortSignal; onOpen: () => void },
  ): AsyncIterable<StreamItem> {
    return followSession(this.#streams, session_id, options);
  }

  changes(signal: AbortSignal): AsyncIterable<ChangeView> {
    return followChanges(this.#streams, signal);
  }

  requests({ session_id, after }: { session_id?: string; after?: string }): Promise<RequestsReply> {
    const path = session_id === undefined ? "/requests" : pathOf(session_id, "requests");
    return this.#call({ path, query: { after } });
  }

  request(session_id: string, request_id: string): Promise<RequestRow> {
    return this.#call({ path: pathOf(session_id, "requests", request_id) });
  }

  queue(session_id: string): Promise<QueueReply> {
    return this.#call({ path: pathOf(session_id, "queue") });
  }

  status(signal?: AbortSignal): Promise<DaemonStatus> {
    return untilDetected(() => this.#call<DaemonStatus>({ path: "/status", signal }));
  }

  stats(query: StatsQuery, signal?: AbortSignal): Promise<Stats> {
    return this.#call({ path: "/stats", query: { ...query }, signal });
  }

  spawn(body: SpawnBody): Promise<SpawnReply> {
    return this.#keyed("/sessions", body);
  }

  /** A message of the person. While a turn runs it is queued; `isNow` interrupts the turn for it. */
  send(session_id: string, text: string, { isNow = false } = {}): Promise<InputReply> {
    const body: InputBody = isNow ? { text, now: true } : { text };
    return this.#keyed(pathOf(session_id, "input"), body);
  }

  cancelQueued(session_id: string, message_id: string): Promise<InputRecord> {
    return this.#call({ method: "DELETE", path: pathOf(session_id, "queue", message_id) });
  }

  interrupt(session_id: string): Promise<{ was_idle: boolean }> {
    return this.#call({ method: "POST", path: pathOf(session_id, "interrupt") });
  }

  /** Answers exactly what was shown: the daemon refuses when the request is another one by now. */
  respond(request: RequestRow, answer: Answer): Promise<RespondReply> {
    const path = pathOf(request.session_id, "requests", request.request_id, "respond");
    const body = { ...answer, shown_hash: request.shown_hash, source: "web" };
    return this.#call({ method: "POST", path, body });
  }

  async rename(session_id: string, name: string | null): Promise<void> {
    await this.#call({ method: "PATCH", path: pathOf(session_id), body: { name } });
  }

  async stop(session_id: string, { tree = false } = {}): Promise<void> {
    await this.#call({ method: "POST", path: pathOf(session_id, "stop"), body: { tree } });
  }

  async remove(session_id: string, { tree = false } = {}): Promise<void> {
    await this.#call({ method: "DELETE", path: pathOf(session_id), query: tree ? { tree } : {} });
  }

  #call<T>(order: Order): Promise<T> {
    return call<T>(this.#transport, order);
  }

  async #keyed<T>(path: string, body: object): Promise<T> {
    const order = { method: "POST", path, body, headers: { "idempotency-key": randomKey() } } as const;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#call<T>(order);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "connection_lost" || attempt === KEYED_ATTEMPTS)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, attempt * 300));
      }
    }
  }
}

/** `crypto.randomUUID` is there on loopback too, but not on every origin a proxy might give us. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

function pathOf(session_id: string, ...rest: readonly string[]): string {
  return ["/sessions", session_id, ...rest]
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join("/");
}
