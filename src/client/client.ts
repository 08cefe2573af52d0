// The client: requests with their replies, and one stream per session. The link below heals the connection;
// after a drop the client attaches every open stream again, from the last seq it has.
import { CodedError } from "../base/coded-error.ts";
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
  listRequests,
  type RequestsFilter,
  type Responded,
  type RespondOptions,
  requestPages,
  respondFrame,
} from "./requests.ts";
import { SessionHandle, WatchHandle } from "./session.ts";
import { SessionStream } from "./stream.ts";

export interface ConnectOptions {
  /** Default: $BLEMEESD_SOCKET, $BLEMEES_SOCKET, $XDG_RUNTIME_DIR/blemeesd.sock, /tmp/blemeesd-<uid>/blemeesd.sock. */
  socket?: string;
  /** Who we are, for the daemon's log: `your-tool/1.0`. */
  client?: string;
  /** `false`: a dropped connection is the end. Otherwise how to come back; the default never gives up. */
  reconnect?: Partial<Backoff> | false;
  /** Ends everything: the attempt to connect, pauses between attempts, the client itself. */
  signal?: AbortSignal;
  /** Default: none; a request waits as long as the connection lives. */
  requestTimeoutMs?: number;
  /** When more frames than this wait unread, the socket is not read until the program catches up. */
  maxQueuedFrames?: number;
  onReconnecting?(attempt: { attempt: number; delayMs: number; cause: CodedError }): void;
  onReconnected?(hello: HelloAck): void;
  /** An error that belongs to no request and no session, such as `daemon_shutdown`. */
  onError?(error: CodedError): void;
  /** Every frame as it comes in, before anything else sees it. */
  onFrame?(frame: WireFrame): void;
}

/** Connects to the daemon; rejects with a CodedError that says how to start one. */
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

  /** Made by `connect`. */
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
        dropped: (cause) => this.#dropped(cause),
        restore: (write) => this.#restore(write),
        ended: (cause) => this.#ended(cause),
      },
    );
  }

  async start(): Promise<void> {
    await this.#link.open();
  }

  /** What the daemon said at the (last) handshake: version, pid, backends. */
  get hello(): HelloAck {
    return this.#link.hello;
  }

  open(order: OpenOptions): Promise<SessionHandle> {
    return SessionHandle.open(this, order);
  }

  /** Follows a session that somebody else drives. Without `last_seen_seq` only what happens from now on. */
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
    const frame = data === undefined ? {} : { data };
    return (await this.request({ type: "blemeesd.ping", ...frame })).data;
  }

  sessionInfo(session_id: string): Promise<Reply<"blemeesd.session_info">> {
    return this.request({ type: "blemeesd.session_info", session_id });
  }

  /** What agents wait for, oldest first; of one session, or of all. Rows with `is_cut` come whole by `request_id`. */
  requests(filter: RequestsFilter = {}): Promise<RequestRow[]> {
    return listRequests(this, filter);
  }

  /** The same as it comes, frame by frame, for those who need not all of it. */
  requestPages(filter: RequestsFilter = {}): AsyncIterableIterator<Reply<"blemeesd.list_requests">> {
    return requestPages(this, filter);
  }

  /** Answers for a session that this client need not hold, if its owner lets others answer. */
  respond(
    session_id: string,
    request_id: string,
    answer: Answer,
    how: RespondOptions = {},
  ): Promise<Responded> {
    return this.request(respondFrame(session_id, request_id, answer, how));
  }

  /** Sends any frame as it is; answers come by `onFrame`. */
  raw(frame: object): Promise<void> {
    return this.#link.write(frame);
  }

  /** Sends a request and gives its reply; the daemon's error becomes a CodedError with its code. */
  request<F extends RequestFrame>(frame: F): Promise<Reply<F["type"]>> {
    const full = this.#withId(frame);
    return new Promise((resolve, reject) => {
      let isPending = false;
      const register = (): void => {
        isPending = true;
        const reply = this.#pending.add(full, { timeoutMs: this.#options.requestTimeoutMs });
        reply.then((answer) => resolve(answer as unknown as Reply<F["type"]>), reject);
      };
      // Once registered, a failed write is the drop of the connection, which knows whether to ask again.
      this.#link.write(full, register).catch((error) => isPending || reject(error));
    });
  }

  /** For handles: a frame without an answer. `before` runs in the same tick as the write. */
  write(frame: object, before?: () => void): Promise<void> {
    return this.#link.write(frame, before);
  }

  /** For handles: registers first, so that no frame behind the reply is missed, then attaches. */
  async attach<T extends AttachType>(
    order: AttachOrder<T>,
  ): Promise<{ stream: SessionStream; reply: Reply<T> }> {
    const { session_id, cursor, first, again } = order;
    if (this.#attachments.has(session_id)) {
      throw new CodedError("session_exists", `this client has session ${session_id} open already`);
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

  /** For handles: the session is done with. */
  forget(session_id: string): void {
    this.#attachments.delete(session_id);
  }

  /** Leaves the daemon; its sessions finish their turn and can be resumed. Safe to call twice. */
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
      attachment?.stream.attached(Number(frame["last_seq"]));
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
      this.#endStream(stream, "session_taken", `${by} has taken over session ${stream.session_id}`);
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
      write(full).catch(() => undefined); // a failed write ends the connection, which fails the request
      return reply as unknown as Promise<Reply<F["type"]>>;
    };
    const again = this.#pending.frames();
    await reattach([...this.#attachments.values()], ask, (stream) => this.forget(stream.session_id));
    for (const frame of again) await write(frame);
  }

  /** True when it came of what was asked: that fails, because asked again it would come again; the sessions go on. */
  #dropped(cause: CodedError): boolean {
    const isAnswer = cause.code === "frame_too_large" && !this.#pending.isEmpty;
    if (isAnswer) this.#pending.failAll(cause);
    else this.#pending.failUnrepeatable(cause);
    return isAnswer;
  }

  #ended(cause: CodedError): void {
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

  /** A reply may stand behind the unread frames, so nothing is held back while a request waits for one. */
  #updateFlow(): void {
    if (!this.#pending.isEmpty || this.#queued <= this.#maxQueued / 2) this.#link.setPaused(false);
    else if (this.#queued > this.#maxQueued) this.#link.setPaused(true);
  }
}
