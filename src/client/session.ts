// Handles to drive or watch one session. Their frames come from a stream that survives reconnects.

import { randomUUID } from "node:crypto";
import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { Answer, RequestRow } from "../protocol/requests.ts";
import { type DaemonFrame, type Reply, type SessionFrame, toMessage, type UserInput } from "./frames.ts";
import type { OpenOptions, Port } from "./port.ts";
import {
  listRequests,
  type RequestsFilter,
  type Responded,
  type RespondOptions,
  respondFrame,
} from "./requests.ts";
import type { SessionStream, StreamEnd } from "./stream.ts";
import { Turn } from "./turn.ts";

export class SessionHandle {
  readonly session_id: string;
  readonly backend: string;
  /** The daemon's reply: pid, last seq, the agent's native id. */
  readonly opened: Reply<"blemeesd.open">;
  readonly #port: Port;
  readonly #stream: SessionStream;

  /** Created by `client.open`. */
  constructor(port: Port, stream: SessionStream, opened: Reply<"blemeesd.open">) {
    this.session_id = opened.session_id;
    this.backend = opened.backend;
    this.opened = opened;
    this.#port = port;
    this.#stream = stream;
  }

  static async open(port: Port, order: OpenOptions): Promise<SessionHandle> {
    const { backend, options = {}, session_id = randomUUID(), resume, last_seen_seq, answers } = order;
    const base = {
      type: "blemeesd.open",
      session_id,
      backend,
      ...defined({ answers }),
      options: { [backend]: options },
    } as const;
    const first = { ...base, ...defined({ resume }), ...defined({ last_seen_seq }) };
    const { stream, reply } = await port.attach<"blemeesd.open">({
      session_id,
      cursor: last_seen_seq ?? 0,
      first,
      again: (seq) => ({ ...base, resume: true, last_seen_seq: seq }),
    });
    return new SessionHandle(port, stream, reply);
  }

  /** Why the stream ended; undefined while the session is open. */
  get ended(): StreamEnd | undefined {
    return this.#stream.ended;
  }

  /** Save it to resume later, from another process. */
  get last_seen_seq(): number {
    return this.#stream.cursor;
  }

  /** Starts a turn; resolves when the message is written. Events report whether the daemon accepts it. */
  send(input: UserInput): Promise<void> {
    return this.#send(input, () => this.#stream.beginTurn());
  }

  /** Starts a turn: iterate over its events, or `await turn.result()`. */
  turn(input: UserInput): Turn {
    let floor = 0;
    const sent = this.#send(input, () => {
      floor = this.#stream.beginTurn();
    });
    return new Turn(this.#stream, sent, () => floor);
  }

  /** New frames; one reader at a time. Leaving the loop loses nothing. */
  events(): AsyncIterableIterator<SessionFrame> {
    return iterate(this.#stream);
  }

  /** Ends the running turn; its `agent.result` says `interrupted`. */
  async interrupt(): Promise<DaemonFrame<"blemeesd.interrupted">> {
    return this.#port.request({ type: "blemeesd.interrupt", session_id: this.session_id });
  }

  /** Pending requests of its agent. */
  requests(filter: Omit<RequestsFilter, "session_id"> = {}): Promise<RequestRow[]> {
    return listRequests(this.#port, { ...filter, session_id: this.session_id });
  }

  /** Answers a request. Repeated after a lost connection; counts once. */
  respond(request_id: string, answer: Answer, how: RespondOptions = {}): Promise<Responded> {
    return this.#port.request(respondFrame(this.session_id, request_id, answer, how));
  }

  /** Ends the session; `delete` also deletes its history. Unread events are dropped. */
  async close(how: { delete?: boolean } = {}): Promise<void> {
    if (this.#stream.ended !== undefined) return;
    this.#stream.discard();
    await this.#port.request({ type: "blemeesd.close", session_id: this.session_id, ...how });
    this.#port.forget(this.session_id);
    this.#stream.end({ code: "session_closed", message: "closed by this client", isFailure: false });
  }

  async #send(input: UserInput, before: () => void): Promise<void> {
    const { ended } = this.#stream;
    if (ended !== undefined) throw new CodedError(ended.code, ended.message);
    const frame = { type: "agent.user", session_id: this.session_id, message: toMessage(input) };
    try {
      await this.#port.write(frame, before);
    } catch (error) {
      // The reconnect finds out whether the message arrived; the stream then has the turn's events, message_lost, or
      // its end.
      if (!(error instanceof CodedError) || error.code !== "connection_lost") throw error;
      if (this.#stream.ended !== undefined) throw error;
    }
  }
}

export class WatchHandle {
  readonly session_id: string;
  /** The last seq when the watch started. */
  readonly last_seq: number;
  readonly #port: Port;
  readonly #stream: SessionStream;

  /** Created by `client.watch`. */
  constructor(port: Port, stream: SessionStream, watching: Reply<"blemeesd.watch">) {
    this.session_id = watching.session_id;
    this.last_seq = watching.last_seq;
    this.#port = port;
    this.#stream = stream;
  }

  static async open(port: Port, session_id: string, last_seen_seq: number | undefined): Promise<WatchHandle> {
    const base = { type: "blemeesd.watch", session_id } as const;
    const first = { ...base, ...defined({ last_seen_seq }) };
    const { stream, reply } = await port.attach<"blemeesd.watch">({
      session_id,
      cursor: last_seen_seq,
      first,
      again: (seq) => ({ ...base, last_seen_seq: seq }),
    });
    return new WatchHandle(port, stream, reply);
  }

  get ended(): StreamEnd | undefined {
    return this.#stream.ended;
  }

  get last_seen_seq(): number {
    return this.#stream.cursor;
  }

  /** New frames, until the session is closed. */
  events(): AsyncIterableIterator<SessionFrame> {
    return iterate(this.#stream);
  }

  /** Pending requests of its agent. */
  requests(filter: Omit<RequestsFilter, "session_id"> = {}): Promise<RequestRow[]> {
    return listRequests(this.#port, { ...filter, session_id: this.session_id });
  }

  /** Answers a request if the owner lets others answer; otherwise fails with `answer_not_allowed`. */
  respond(request_id: string, answer: Answer, how: RespondOptions = {}): Promise<Responded> {
    return this.#port.request(respondFrame(this.session_id, request_id, answer, how));
  }

  /** Stops watching. Unread events are dropped. */
  async close(): Promise<void> {
    if (this.#stream.ended !== undefined) return;
    this.#stream.discard();
    await this.#port.request({ type: "blemeesd.unwatch", session_id: this.session_id });
    this.#port.forget(this.session_id);
    this.#stream.end({ code: "unwatched", message: "no longer watched", isFailure: false });
  }
}

function iterate(stream: SessionStream): AsyncIterableIterator<SessionFrame> {
  const iterator = { next: () => stream.next(), [Symbol.asyncIterator]: () => iterator };
  return iterator;
}
