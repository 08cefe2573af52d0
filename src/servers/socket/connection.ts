// One client on the socket: lines in, frames out. Handlers run side by side, so a slow open never holds up a
// ping; what concerns one session is put in order by the session itself.
import type { Socket } from "node:net";
import { CodedError } from "../../base/coded-error.ts";
import { parseUntrusted } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { LineSplitter } from "../../base/ndjson.ts";
import { Outbox } from "../../base/outbox.ts";
import { ERRORS, type ErrorCode, isErrorCode } from "../../protocol/errors.ts";
import { FEATURES, INBOUND, type InboundType } from "../../protocol/wire/blemees2.ts";
import type { Outbound } from "../../protocol/wire/blemees2-outbound.ts";
import type { Attachment, Client, Subscriber } from "../../sessions/index.ts";
import type { ServerContext } from "../types.ts";
import type { Dialect } from "./dialect.ts";
import { HANDLERS } from "./handlers.ts";
import { Intake } from "./intake.ts";
import type { Peer } from "./peer.ts";

/** Requests of one connection that may be under way at once; past this we stop reading from it. */
const MAX_REQUESTS = 256;
/** Requests that count as more than one, because their replies can be megabytes. */
const COSTS: Partial<Record<InboundType, number>> = {
  "blemeesd.list_sessions": MAX_REQUESTS / 4,
  "blemeesd.list_requests": MAX_REQUESTS / 4,
};
/** A client that comes while the agents are still being looked for waits this long for the whole list. */
const DETECTION_WAIT_MS = 250;
/** How long a client that will say nothing more may wait for its replies. */
const HALF_CLOSED_MS = 10_000;
/** How long a closed connection may take to read what is left for it. */
const LINGER_MS = 2_000;

export interface ConnectionOptions {
  id: string;
  socket: Socket;
  context: ServerContext;
  dialects: ReadonlyMap<string, Dialect>;
  limits: ConnectionLimits;
  /** How many connections there are. */
  siblings(): number;
  /** Who is at the other end, asked of the kernel. */
  peer(): Peer;
  closed(connection: Connection): void;
}

export interface ConnectionLimits {
  maxLineBytes: number;
  outboxBytes: number;
  helloTimeoutMs: number;
}

export class Connection implements Client {
  readonly id: string;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #outbox: Outbox;
  readonly #log: Log;
  readonly #attachments = new Set<Attachment>();
  readonly #helloTimer: NodeJS.Timeout;
  readonly #intake: Intake<() => Record<string, unknown>>;
  #read: (chunk: Buffer) => void = () => undefined;
  #dialect: Dialect | undefined;
  #knownPeer: Peer | undefined;
  /** The hello is not answered yet; lines after it wait. */
  #isGreeting = false;
  /** What is under way, by cost. */
  #requests = 0;
  #hasEnded = false;
  #isClosing = false;
  #isGone = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.id = options.id;
    this.#socket = options.socket;
    this.#log = options.context.log.with({ connection_id: options.id });
    this.#outbox = new Outbox(options.socket, options.limits.outboxBytes, { drained: () => this.#drained() });
    this.#intake = new Intake({
      socket: options.socket,
      hasRoom: () => !this.#isGreeting && this.#requests < MAX_REQUESTS && !this.#outbox.isFull,
      handle: (parse) => this.#receive(parse),
    });
    this.#helloTimer = setTimeout(
      () => this.fail(new CodedError("invalid_message", "no blemeesd.hello within 5 s")),
      options.limits.helloTimeoutMs,
    );
    this.#listen();
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get protocol(): string {
    return this.#dialect?.protocol ?? "";
  }

  get deletesTranscripts(): boolean {
    return this.#dialect?.deletesTranscripts ?? false;
  }

  get peer_pid(): number | undefined {
    return this.#peer().pid;
  }

  /** Logs who is at the other end; asking the kernel is put off at start (listen.ts) but never forgotten. */
  introduce(): void {
    const { pid, uid } = this.#peer();
    this.#log.info("connection.open", { peer_pid: pid, peer_uid: uid });
  }

  #peer(): Peer {
    this.#knownPeer ??= this.#options.peer();
    return this.#knownPeer;
  }

  siblings(): number {
    return this.#options.siblings();
  }

  reply(frame: Outbound): void {
    const rendered =
      this.#dialect === undefined ? frame : this.#dialect.render(frame, this.#options.context.facts);
    if (rendered !== undefined) this.#outbox.write(`${JSON.stringify(rendered)}\n`);
  }

  /** This connection's ear on a session. */
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
          ...(by_peer_pid === undefined ? {} : { by_peer_pid }),
        }),
      closed: (reason) => this.reply({ type: "blemeesd.session_closed", session_id, reason }),
    };
  }

  /** Lets a subscription flow, and wakes it whenever there is room again. */
  attach(attachment: Attachment): void {
    // A connection may live for weeks and have had thousands of sessions.
    for (const old of this.#attachments) if (old.isOver) this.#attachments.delete(old);
    this.#attachments.add(attachment);
    attachment.start();
  }

  /** How long the client has taken nothing although a lot waits for it. */
  stalledMs(nowMs: number): number {
    return this.#outbox.stalledMs(nowMs);
  }

  /** Tells the client why and closes the connection. */
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
    clearTimeout(this.#helloTimer);
    this.#socket.end();
    this.#socket.resume(); // what the client still sends is thrown away, so that its end of file is seen
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    this.#gone();
  }

  /** Lets go of the socket, which turned out to speak something else; nothing more is read from it here. */
  release(): Socket {
    this.#isClosing = true;
    this.#isGone = true;
    clearTimeout(this.#helloTimer);
    this.#outbox.close();
    this.#socket.off("data", this.#read);
    return this.#socket;
  }

  #listen(): void {
    const splitter = new LineSplitter(this.#options.limits.maxLineBytes, {
      line: (text) => this.#intake.push(() => parseUntrusted(text)),
      badLine: () =>
        this.#intake.push(() => {
          throw new CodedError("invalid_message", "the line is not UTF-8");
        }),
      oversize: () => {
        const max = this.#options.limits.maxLineBytes;
        this.fail(
          new CodedError("oversize_message", `a frame may have at most ${max} bytes (max_line_bytes)`),
        );
      },
    });
    this.#read = (chunk) => {
      if (!this.#isClosing) splitter.push(chunk);
    };
    this.#socket.on("data", this.#read);
    this.#socket.on("end", () => {
      // Half-closed: a script that wrote its requests and waits for the replies still gets them.
      this.#hasEnded = true;
      setTimeout(() => this.#gone(), HALF_CLOSED_MS).unref();
      this.#leaveIfDone();
    });
    this.#socket.on("error", (error) => this.#log.debug("connection.error", { message: error.message }));
    this.#socket.on("close", () => this.#gone());
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
    clearTimeout(this.#helloTimer);
    this.#dialect = dialect;
    this.#log.info("connection.hello", { client: client?.slice(0, 200), protocol });
    this.#isGreeting = true;
    const timeout = new Promise((resolve) => setTimeout(resolve, DETECTION_WAIT_MS).unref());
    void Promise.race([this.#options.context.facts.detected(), timeout]).then(() =>
      this.#acknowledge(protocol, features !== undefined),
    );
  }

  /** Features are named only to a client that knows of them: others may check what they get strictly. */
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
    const running = handle(this, request.frame, this.#options.context);
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

  /** The one place where an error becomes an error frame. */
  #refuse(error: unknown, frame: Record<string, unknown> | undefined): void {
    const coded = asCoded(error, this.#log);
    // A fault of the first frame is always fatal: without a hello there is nobody to talk to.
    if (ERRORS[coded.code as ErrorCode].fatal || this.#dialect === undefined) {
      this.fail(coded);
      return;
    }
    this.#log.info("error.emitted", { code: coded.code });
    this.reply(errorFrame(withType(coded, frame), frame));
  }

  #drained(): void {
    for (const attachment of this.#attachments) attachment.drained();
    this.#advance();
  }

  /** A client that asks for more than it reads is not read from until it catches up. */
  #advance(): void {
    if (this.#isClosing) return;
    this.#intake.advance();
    this.#leaveIfDone();
  }

  /** A client that said all it wanted is let go once it has its replies. */
  #leaveIfDone(): void {
    const isDone = this.#requests === 0 && !this.#isGreeting && this.#intake.isEmpty;
    if (this.#hasEnded && isDone) this.#gone();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#helloTimer);
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
    ...(error.data === undefined ? {} : { data: error.data }),
  };
}

/** A fault that is only a path in the frame (`/options/…: unexpected property`) also says in which frame. */
function withType(error: CodedError, frame: Record<string, unknown> | undefined): CodedError {
  if (frame === undefined || !error.message.startsWith("/")) return error;
  return new CodedError(error.code, `${String(frame["type"])}: ${error.message}`, {
    cause: error,
    ...(error.data === undefined ? {} : { data: error.data }),
  });
}

function asCoded(error: unknown, log: Log): CodedError {
  if (error instanceof CodedError && isErrorCode(error.code)) return error;
  log.error("internal", { stack: error instanceof Error ? error.stack : String(error) });
  return new CodedError("internal", "unexpected error in the daemon; its log has the details", {
    cause: error,
  });
}
