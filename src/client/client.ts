// The client: requests and replies, and one stream per session. The link reconnects; the client then reattaches every
// open stream from its last seq.

import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { Answer, RequestRow } from "../protocol/requests.ts";
import type { Backoff } from "./backoff.ts";
import { DEFAULT_BACKOFF } from "./backoff.ts";
import { findSocket } from "./discover.ts";
import type { HelloAck, Reply, RequestFrame, SessionFrame, WireFrame } from "./frames.ts";
import { Link } from "./link.ts";
import { Pending, toError } from "./pending.ts";
import type { Attachment, AttachOrder, AttachType, OpenOptions, Port } from "./port.ts";
import { reattach } from "./reattach.ts";
import {
  listRequestPages,
  listRequests,
  type RequestsFilter,
  type Responded,
  type RespondOptions,
  respondFrame,
} from "./requests.ts";
import { SessionHandle, WatchHandle } from "./session.ts";
import { SessionStream } from "./stream.ts";

export interface ConnectOptions {
  /** Default: $BLEMEESD_SOCKET, $BLEMEES_SOCKET, $XDG_RUNTIME_DIR/blemeesd.sock, /tmp/blemeesd-<uid>/blemeesd.sock. */
  socket?: string;
  /** Name for the daemon's log: `your-tool/1.0`. */
  client?: string;
  /** `false` disables reconnecting. The default never gives up. */
  reconnect?: Partial<Backoff> | false;
  /** Aborts connecting and reconnecting, and closes the client. */
  signal?: AbortSignal;
  /** Default: no timeout while the connection lasts. */
  requestTimeoutMs?: number;
  /** Reading from the socket pauses while more frames than this are unread. */
  maxQueuedFrames?: number;
  onReconnecting?(attempt: { attempt: number; delayMs: number; cause: CodedError }): void;
  onReconnected?(hello: HelloAck): void;
  /** Errors of no particular request or session, such as `daemon_shutdown`. */
  onError?(error: CodedError): void;
  /** Every incoming frame, before it is processed. */
  onFrame?(frame: WireFrame): void;
}

/** Connects to the daemon; rejects with a CodedError that explains how to start one. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const client = new Client(options);
  await client.start();
  return client;
}

export class Client implements Port {
  readonly #options: ConnectOptions;
  readonly #link: Link;
  readonly #pending = new Pending(() => this.#updateFlow());
  readonly #attachments = new Map<string, Attachment>();
  readonly #maxQueued: number;
  #queued = 0;
  #lastId = 0;

  /** Created by `connect`. */
  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueuedFrames ?? 1024;
    const { reconnect, onReconnecting, onReconnected, signal } = options;
    this.#link = new Link(
      {
        path: findSocket(options.socket),
        client: options.client ?? "blemees-client",
        reconnect: reconnect === false ? false : { ...DEFAULT_BACKOFF, ...reconnect },
        signal,
        onReconnecting: onReconnecting?.bind(options),
        onReconnected: onReconnected?.bind(options),
      },
      {
        frame: (frame) => this.#route(frame),
        dropped: (cause) => this.#onDrop(cause),
        restore: (write) => this.#restore(write),
        ended: (cause) => this.#onEnd(cause),
      },
    );
  }

  async start(): Promise<void> {
    await this.#link.open();
  }

  /** The daemon's reply to the last handshake: version, pid, backends. */
  get hello(): HelloAck {
    return this.#link.hello;
  }

  open(order: OpenOptions): Promise<SessionHandle> {
    return SessionHandle.open(this, order);
  }

  /** Follows another client's session. Without `last_seen_seq`, only new frames. */
  watch(session_id: string, from: { last_seen_seq?: number } = {}): Promise<WatchHandle> {
    return WatchHandle.open(this, session_id, from.last_seen_seq);
  }

  async list(
    filter: { cwd?: string; live?: boolean } = {},
  ): Promise<Reply<"blemeesd.list_sessions">["sessions"]> {
    return (await this.request({ type: "blemeesd.list_sessions", ...filter })).sessions;
  }

  status(): Promise<Reply<"blemeesd.status">> {
    return this.request({ type: "blemeesd.status" });
  }

  async ping(data?: unknown): Promise<unknown> {
    const frame = defined({ data });
    return (await this.request({ type: "blemeesd.ping", ...frame })).data;
  }

  sessionInfo(session_id: string): Promise<Reply<"blemeesd.session_info">> {
    return this.request({ type: "blemeesd.session_info", session_id });
  }

  /** Pending requests of one or all sessions, oldest first. Rows with `is_cut` are complete when read by `request_id`. */
  requests(filter: RequestsFilter = {}): Promise<RequestRow[]> {
    return listRequests(this, filter);
  }

  /** The same, page by page. */
  requestPages(filter: RequestsFilter = {}): AsyncIterableIterator<Reply<"blemeesd.list_requests">> {
    return listRequestPages(this, filter);
  }

  /** Answers a request of any session whose owner lets other clients answer. */
  respond(
    session_id: string,
    request_id: string,
    answer: Answer,
    how: RespondOptions = {},
  ): Promise<Responded> {
    return this.request(respondFrame(session_id, request_id, answer, how));
  }

  /** Sends any frame unchanged; replies arrive in `onFrame`. */
  raw(frame: object): Promise<void> {
    return this.#link.write(frame);
  }

  /** Resolves with the reply; an error frame becomes a CodedError with the same code. */
  request<F extends RequestFrame>(frame: F): Promise<Reply<F["type"]>> {
    const full = this.#withId(frame);
    return new Promise((resolve, reject) => {
      let isPending = false;
      const register = (): void => {
        isPending = true;
        const reply = this.#pending.add(full, { timeoutMs: this.#options.requestTimeoutMs });
        reply.then((answer) => resolve(answer as unknown as Reply<F["type"]>), reject);
      };
      // Once registered, a failed write is handled as a lost connection, which may repeat the request.
      this.#link.write(full, register).catch((error) => isPending || reject(error));
    });
  }

  /** For handles: sends a frame that has no reply. `before` runs in the same tick as the write. */
  write(frame: object, before?: () => void): Promise<void> {
    return this.#link.write(frame, before);
  }

  /** For handles: registers the stream before attaching, so that no frame after the reply is missed. */
  async attach<T extends AttachType>(
    order: AttachOrder<T>,
  ): Promise<{ stream: SessionStream; reply: Reply<T> }> {
    const { session_id, cursor, first, again } = order;
    if (this.#attachments.has(session_id)) {
      throw new CodedError("session_exists", `this client already has session ${session_id} open`);
    }
    const stream = new SessionStream(session_id, cursor, (difference) => this.#count(difference));
    this.#attachments.set(session_id, { stream, again });
    try {
      return { stream, reply: (await this.request(first)) as Reply<T> };
    } catch (error) {
      this.#attachments.delete(session_id);
      throw error;
    }
  }

  /** For handles: releases the session. */
  forget(session_id: string): void {
    this.#attachments.delete(session_id);
  }

  /** Disconnects; sessions finish their turn and can be resumed. Safe to call twice. */
  close(): Promise<void> {
    return this.#link.close();
  }

  #withId<F extends RequestFrame>(frame: F): F {
    if (frame.type === "blemeesd.interrupt") return frame;
    this.#lastId += 1;
    return { ...frame, id: `req_${this.#lastId}` };
  }

  #route(frame: WireFrame): void {
    this.#options.onFrame?.(frame);
    const attachment =
      typeof frame.session_id === "string" ? this.#attachments.get(frame.session_id) : undefined;
    if (frame.type === "blemeesd.opened" || frame.type === "blemeesd.watching") {
      attachment?.stream.markAttached(Number(frame["last_seq"]));
    }
    if (this.#pending.settle(frame)) return;
    if (attachment !== undefined) {
      this.#deliver(attachment.stream, frame as unknown as SessionFrame);
    } else if (frame.type === "blemeesd.error") {
      this.#options.onError?.(toError(frame as unknown as Extract<SessionFrame, { type: "blemeesd.error" }>));
    }
  }

  #deliver(stream: SessionStream, frame: SessionFrame): void {
    stream.push(frame);
    if (frame.type === "blemeesd.session_taken") {
      const by = frame.by_peer_pid === undefined ? "another client" : `process ${frame.by_peer_pid}`;
      this.#endStream(stream, "session_taken", `${by} took over session ${stream.session_id}`);
    } else if (frame.type === "blemeesd.session_closed") {
      this.#endStream(stream, "session_closed", `session ${stream.session_id} was closed: ${frame.reason}`);
    }
  }

  #endStream(stream: SessionStream, code: string, message: string): void {
    this.#attachments.delete(stream.session_id);
    stream.end({ code, message, isFailure: false });
  }

  async #restore(write: (frame: object) => Promise<void>): Promise<void> {
    const ask = <F extends RequestFrame>(frame: F): Promise<Reply<F["type"]>> => {
      const full = this.#withId(frame);
      const reply = this.#pending.add(full, { isOnce: true });
      write(full).catch(() => undefined); // a failed write closes the connection, which fails the request
      return reply as unknown as Promise<Reply<F["type"]>>;
    };
    const again = this.#pending.frames();
    await reattach([...this.#attachments.values()], ask, (stream) => this.forget(stream.session_id));
    for (const frame of again) await write(frame);
  }

  /** True if a reply caused it (too large): the requests fail rather than being repeated, and the sessions continue. */
  #onDrop(cause: CodedError): boolean {
    const isAnswer = cause.code === "frame_too_large" && !this.#pending.isEmpty;
    if (isAnswer) this.#pending.failAll(cause);
    else this.#pending.failUnrepeatable(cause);
    return isAnswer;
  }

  #onEnd(cause: CodedError): void {
    this.#pending.failAll(cause);
    for (const { stream } of this.#attachments.values()) {
      const isFailure = cause.code !== "connection_closed";
      stream.end({ code: cause.code, message: cause.message, isFailure });
    }
    this.#attachments.clear();
  }

  #count(difference: number): void {
    this.#queued += difference;
    this.#updateFlow();
  }

  /** Never paused while a request is pending: its reply may come after the unread frames. */
  #updateFlow(): void {
    if (!this.#pending.isEmpty || this.#queued <= this.#maxQueued / 2) this.#link.setPaused(false);
    else if (this.#queued > this.#maxQueued) this.#link.setPaused(true);
  }
}
