// One client on the socket: lines in, frames out. Handlers run concurrently, so a slow open never delays a ping; each
// session orders its own requests.

import type { Socket } from "node:net";
import { CodedError } from "../../base/coded-error.ts";
import { parseUntrusted } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { LineSplitter } from "../../base/ndjson.ts";
import { Outbox } from "../../base/outbox.ts";
import { defined } from "../../base/values.ts";
import { ERRORS, type ErrorCode } from "../../protocol/errors.ts";
import { FEATURES, INBOUND, type InboundType } from "../../protocol/wire/blemees2.ts";
import type { Outbound } from "../../protocol/wire/blemees2-outbound.ts";
import type { Attachment, Caller, Client, Subscriber } from "../../sessions/index.ts";
import { toCoded } from "../errors.ts";
import type { ServerContext } from "../types.ts";
import type { Dialect } from "./dialect.ts";
import { HANDLERS } from "./handlers.ts";
import { Intake } from "./intake.ts";
import type { Peer } from "./peer.ts";

/** Concurrent requests per connection; at this number we stop reading from it. */
const MAX_REQUESTS = 256;
/** Requests that count as several because their replies can be megabytes. */
const COSTS: Partial<Record<InboundType, number>> = {
  "blemeesd.list_sessions": MAX_REQUESTS / 4,
  "blemeesd.list_requests": MAX_REQUESTS / 4,
};
/** Frames that need no rights. */
export const FOR_ANYONE: ReadonlySet<InboundType> = new Set([
  "blemeesd.hello",
  "blemeesd.ping",
  "blemeesd.status",
]);
/** How long the hello of a first start waits for agent detection, so that its reply has the complete list. */
const DETECTION_WAIT_MS = 250;
/** How long a client that has closed its side may wait for its replies. */
const HALF_CLOSED_MS = 10_000;
/** How long a client may take to read the rest after we closed the connection. */
const LINGER_MS = 2_000;

export interface ConnectionOptions {
  id: string;
  socket: Socket;
  context: ServerContext;
  dialects: ReadonlyMap<string, Dialect>;
  limits: ConnectionLimits;
  /** Number of connections, including this one. */
  siblings(): number;
  /** The client's process, from the kernel. */
  peer(): Peer;
  /** Who the client is. Takes up to a millisecond. */
  caller(): Caller;
  /** A valid hello arrived. */
  greeted(): void;
  closed(connection: Connection): void;
}

export interface ConnectionLimits {
  maxLineBytes: number;
  outboxBytes: number;
}

export class Connection implements Client {
  readonly id: string;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #outbox: Outbox;
  readonly #log: Log;
  readonly #attachments = new Set<Attachment>();
  readonly #intake: Intake<() => Record<string, unknown>>;
  readonly #splitter: LineSplitter;
  #dialect: Dialect | undefined;
  /** With the hub limited to the caller's rights. */
  #guarded: ServerContext | undefined;
  /** The hello has not been answered yet; later lines wait. */
  #isGreeting = false;
  /** Total cost of requests in progress. */
  #requests = 0;
  #hasEnded = false;
  #isClosing = false;
  #isGone = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.id = options.id;
    this.#socket = options.socket;
    this.#log = options.context.log.with({ connection_id: options.id });
    this.#outbox = new Outbox(options.socket, options.limits.outboxBytes, { drained: () => this.#resume() });
    this.#intake = new Intake({
      socket: options.socket,
      hasRoom: () => !this.#isGreeting && this.#requests < MAX_REQUESTS && !this.#outbox.isFull,
      handle: (parse) => this.#receive(parse),
    });
    this.#splitter = this.#createSplitter();
    this.#socket.on("data", (chunk: Buffer) => this.read(chunk));
    this.#socket.on("end", () => {
      // Half-closed: a script that sent its requests and waits for the replies still gets them.
      this.#hasEnded = true;
      setTimeout(() => this.#finish(), HALF_CLOSED_MS).unref();
      this.#leaveIfDone();
    });
    this.#socket.on("close", () => this.#finish());
  }

  get protocol(): string {
    return this.#dialect?.protocol ?? "";
  }

  get deletesTranscripts(): boolean {
    return this.#dialect?.deletesTranscripts ?? false;
  }

  get peer_pid(): number | undefined {
    return this.#options.peer().pid;
  }

  /** Takes bytes from the client. */
  read(chunk: Buffer): void {
    if (!this.#isClosing) this.#splitter.push(chunk);
  }

  siblings(): number {
    return this.#options.siblings();
  }

  reply(frame: Outbound): void {
    const rendered =
      this.#dialect === undefined ? frame : this.#dialect.render(frame, this.#options.context.facts);
    if (rendered !== undefined) this.#outbox.write(`${JSON.stringify(rendered)}\n`);
  }

  /** Receives a session's frames for this connection. */
  subscriber(session_id: string): Subscriber {
    return {
      write: (batch) => {
        const bytes = this.#dialect?.renderBatch(batch);
        if (bytes !== undefined) this.#outbox.write(bytes);
      },
      isFull: () => this.#outbox.isFull,
      gap: (since_seq, first_available_seq) =>
        this.reply({ type: "blemeesd.replay_gap", session_id, since_seq, first_available_seq }),
      lagging: (since_seq, last_seq) =>
        this.reply({ type: "blemeesd.catching_up", session_id, since_seq, last_seq }),
      taken: (by_peer_pid) =>
        this.reply({
          type: "blemeesd.session_taken",
          session_id,
          ...defined({ by_peer_pid }),
        }),
      closed: (reason) => this.reply({ type: "blemeesd.session_closed", session_id, reason }),
    };
  }

  /** Starts a subscription, and resumes it whenever the outbox has room again. */
  attach(attachment: Attachment): void {
    // A connection may live for weeks and see thousands of sessions.
    for (const old of this.#attachments) if (old.isOver) this.#attachments.delete(old);
    this.#attachments.add(attachment);
    attachment.start();
  }

  /** Sends the error and closes the connection. */
  fail(error: CodedError): void {
    if (this.#isClosing) return;
    this.#log.info("error.emitted", { code: error.code, fatal: true });
    this.reply(errorFrame(error));
    this.close();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#intake.close();
    this.#socket.end();
    this.#socket.resume(); // discards input, so that the end of the stream is seen
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    this.#finish();
  }

  #createSplitter(): LineSplitter {
    const { maxLineBytes } = this.#options.limits;
    return new LineSplitter(maxLineBytes, {
      line: (text) => this.#intake.push(() => parseUntrusted(text)),
      badLine: () =>
        this.#intake.push(() => {
          throw new CodedError("invalid_message", "the line is not UTF-8");
        }),
      oversize: () => {
        const message = `a frame may have at most ${maxLineBytes} bytes (max_line_bytes)`;
        this.fail(new CodedError("oversize_message", message));
      },
    });
  }

  #receive(parse: () => Record<string, unknown>): void {
    if (this.#isClosing) return;
    let frame: Record<string, unknown> | undefined;
    try {
      frame = parse();
      if (this.#dialect === undefined) this.#hello(frame);
      else this.#dispatch(frame, this.#dialect);
    } catch (error) {
      this.#refuse(error, frame);
    }
  }

  #hello(frame: Record<string, unknown>): void {
    const checked = INBOUND["blemeesd.hello"].safeParse(frame);
    if (!checked.success) {
      throw new CodedError(
        "invalid_message",
        'the first frame must be {"type":"blemeesd.hello","protocol":"blemees/2","client":"name/version"}',
      );
    }
    const { protocol, client, features } = checked.data;
    const dialect = this.#options.dialects.get(protocol);
    if (dialect === undefined) {
      const known = [...this.#options.dialects.keys()].join(" and ");
      throw new CodedError(
        "protocol_mismatch",
        `this daemon speaks ${known}, not ${JSON.stringify(protocol)}`,
      );
    }
    this.#options.greeted();
    this.#dialect = dialect;
    this.#log.info("connection.hello", { client: client?.slice(0, 200), protocol });
    this.#isGreeting = true;
    const timeout = new Promise((resolve) => setTimeout(resolve, DETECTION_WAIT_MS).unref());
    void Promise.race([this.#options.context.facts.detected(), timeout]).then(() =>
      this.#acknowledge(protocol, features !== undefined),
    );
  }

  /** Features are listed only for a client that sent its own: others may reject unknown fields. */
  #acknowledge(protocol: string, withFeatures: boolean): void {
    const { facts } = this.#options.context;
    this.reply({
      type: "blemeesd.hello_ack",
      daemon: facts.daemon,
      protocol,
      pid: facts.pid,
      backends: facts.backends(),
      ...(withFeatures ? { features: [...FEATURES] } : {}),
    });
    this.#isGreeting = false;
    this.#advance();
  }

  #dispatch(frame: Record<string, unknown>, dialect: Dialect): void {
    const request = dialect.accept(frame);
    const handle = HANDLERS[request.type] as (
      connection: Connection,
      frame: unknown,
      context: ServerContext,
    ) => void | Promise<void>;
    const running = handle(this, request.frame, this.#contextFor(request.type));
    if (running === undefined) return;
    const cost = COSTS[request.type] ?? 1;
    this.#requests += cost;
    running
      .catch((error: unknown) => this.#refuse(error, frame))
      .finally(() => {
        this.#requests -= cost;
        this.#advance();
      });
  }

  /** The caller is identified with the first frame that needs it, once. */
  #contextFor(type: InboundType): ServerContext {
    const { context } = this.#options;
    if (FOR_ANYONE.has(type)) return context;
    this.#guarded ??= { ...context, hub: context.hub.as(this.#options.caller()) };
    return this.#guarded;
  }

  /** The only place that turns an error into an error frame. */
  #refuse(error: unknown, frame: Record<string, unknown> | undefined): void {
    const coded = toCoded(error, this.#log);
    // Any error in the first frame is fatal: there is no protocol yet to continue with.
    if (ERRORS[coded.code as ErrorCode].fatal || this.#dialect === undefined) {
      this.fail(coded);
      return;
    }
    this.#log.info("error.emitted", { code: coded.code });
    this.reply(errorFrame(withType(coded, frame), frame));
  }

  #resume(): void {
    for (const attachment of this.#attachments) attachment.onDrain();
    this.#advance();
  }

  /** Resumes reading from a client that had asked for more than it read. */
  #advance(): void {
    if (this.#isClosing) return;
    this.#intake.advance();
    this.#leaveIfDone();
  }

  /** Closes a half-closed connection once all replies are sent. */
  #leaveIfDone(): void {
    const isDone = this.#requests === 0 && !this.#isGreeting && this.#intake.isEmpty;
    if (this.#hasEnded && isDone) this.#finish();
  }

  #finish(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#outbox.close();
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#socket.destroySoon();
      setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    }
    this.#options.closed(this);
  }
}

function errorFrame(error: CodedError, frame?: Record<string, unknown>): Outbound {
  const id = frame?.["id"];
  const session_id = frame?.["session_id"];
  return {
    type: "blemeesd.error",
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof session_id === "string" && session_id !== "" ? { session_id } : {}),
    code: error.code as ErrorCode,
    message: error.message,
    ...defined({ data: error.data }),
  };
}

/** Prefixes an error that only has a path (`/options/…: unexpected property`) with the type of its frame. */
function withType(error: CodedError, frame: Record<string, unknown> | undefined): CodedError {
  if (frame === undefined || !error.message.startsWith("/")) return error;
  return new CodedError(error.code, `${String(frame["type"])}: ${error.message}`, {
    cause: error,
    ...defined({ data: error.data }),
  });
}
