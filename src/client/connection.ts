// One socket to the daemon, from the handshake to its end. It frames and parses; it does not know sessions,
// requests or reconnecting. A connection that ends says so once, by `closed`, with the reason.
import { createConnection, type Socket } from "node:net";
import { CodedError, messageOf } from "../base/coded-error.ts";
import { LineSplitter } from "../base/ndjson.ts";
import { explainConnectError } from "./discover.ts";
import { FEATURE_NAMES, type HelloAck, PROTOCOL_NAME, type WireFrame } from "./frames.ts";

/** Twice what the daemon takes from its clients, because its frames wrap what agents say. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const HELLO_TIMEOUT_MS = 5_000;

export interface ConnectionHandlers {
  frame(frame: WireFrame): void;
  /** Called once, after a successful handshake, whoever ended it. */
  closed(error: CodedError): void;
}

export interface DialOptions {
  path: string;
  client: string;
  /** Gives the attempt up; a connection that stands is not touched by it. */
  signal?: AbortSignal | undefined;
  /** Sees every frame that goes out, hello included. */
  onSent?: ((frame: object) => void) | undefined;
}

/** Connects and says hello; rejects with a CodedError that says what to do. */
export function dial(options: DialOptions, handlers: ConnectionHandlers): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(options.path);
    const connection = new Connection(socket, options, handlers, {
      resolve: () => resolve(connection),
      reject,
    });
  });
}

interface Handshake {
  resolve(): void;
  reject(error: CodedError): void;
}

export class Connection {
  readonly #socket: Socket;
  readonly #options: DialOptions;
  readonly #handlers: ConnectionHandlers;
  readonly #timer: NodeJS.Timeout;
  #handshake: Handshake | undefined;
  #hello: HelloAck | undefined;
  /** Why it ended or is about to: the first reason counts. */
  #reason: CodedError | undefined;

  /** Made by `dial`. */
  constructor(socket: Socket, options: DialOptions, handlers: ConnectionHandlers, handshake: Handshake) {
    this.#socket = socket;
    this.#options = options;
    this.#handlers = handlers;
    this.#handshake = handshake;
    const splitter = new LineSplitter(MAX_FRAME_BYTES, {
      line: (text) => this.#line(text),
      badLine: () => this.#fail(new CodedError("bad_frame", "the daemon sent a line that is not UTF-8")),
      oversize: (bytes) =>
        this.#fail(new CodedError("frame_too_large", `the daemon sent a frame of more than ${bytes} bytes`)),
    });
    socket.on("data", (chunk: Buffer) => splitter.push(chunk));
    socket.once("connect", () => this.#sayHello());
    socket.once("error", (error) => this.#fail(this.#explain(error)));
    socket.once("close", () => this.#closed());
    this.#timer = setTimeout(() => {
      this.#fail(
        new CodedError("no_handshake", `${options.path} did not answer hello in ${HELLO_TIMEOUT_MS} ms`),
      );
    }, HELLO_TIMEOUT_MS);
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
  }

  /** What the daemon said about itself. */
  get hello(): HelloAck {
    if (this.#hello === undefined) throw new CodedError("not_connected", "the handshake is not done");
    return this.#hello;
  }

  /** Resolves when the bytes are with the system, so awaiting it keeps a fast writer in step with the daemon. */
  write(frame: object): Promise<void> {
    this.#options.onSent?.(frame);
    return new Promise((resolve, reject) => {
      this.#socket.write(`${JSON.stringify(frame)}\n`, (error) => {
        if (error) reject(this.#reason ?? lost(this.#options.path, error));
        else resolve();
      });
    });
  }

  /** Stops reading: the daemon's queue fills instead of our memory. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends the connection behind what was written; `closed` comes with this reason. Safe to call twice. */
  async close(reason = new CodedError("connection_closed", "the connection was closed")): Promise<void> {
    this.#reason ??= reason;
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.destroySoon();
    await closed;
  }

  readonly #onAbort = (): void => this.#fail(new CodedError("aborted", "aborted by the caller"));

  #sayHello(): void {
    this.write(helloFrame(this.#options.client)).catch(() => undefined); // the socket's close event tells the same
  }

  #line(text: string): void {
    // Behind a bad line nothing may count as seen, or a resume would skip what was lost.
    if (this.#socket.destroyed) return;
    let frame: WireFrame;
    try {
      frame = JSON.parse(text);
    } catch (cause) {
      this.#fail(
        new CodedError("bad_frame", `the daemon sent a line that is not JSON: ${messageOf(cause)}`, {
          cause,
        }),
      );
      return;
    }
    if (this.#handshake !== undefined) this.#answerHello(frame);
    this.#handlers.frame(frame);
  }

  #answerHello(frame: WireFrame): void {
    if (frame.type === "blemeesd.error") {
      this.#fail(new CodedError(String(frame["code"]), String(frame["message"])));
      return;
    }
    if (frame.type !== "blemeesd.hello_ack") {
      this.#fail(
        new CodedError("bad_frame", `expected hello_ack of ${this.#options.path}, got ${frame.type}`),
      );
      return;
    }
    this.#hello = frame as unknown as HelloAck;
    const { resolve } = this.#handshake ?? {};
    this.#endHandshake();
    resolve?.();
  }

  #explain(error: Error): CodedError {
    return this.#socket.connecting || this.#hello === undefined
      ? explainConnectError(this.#options.path, error)
      : lost(this.#options.path, error);
  }

  #fail(error: CodedError): void {
    this.#reason ??= error;
    this.#socket.destroy();
  }

  #closed(): void {
    const reason = this.#reason ?? lost(this.#options.path);
    this.#reason = reason;
    if (this.#handshake === undefined) this.#handlers.closed(reason);
    else this.#handshake.reject(reason);
    this.#endHandshake();
  }

  #endHandshake(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#handshake = undefined;
  }
}

export function helloFrame(client: string): { type: string } & Record<string, unknown> {
  return { type: "blemeesd.hello", client, protocol: PROTOCOL_NAME, features: [...FEATURE_NAMES] };
}

function lost(path: string, cause?: unknown): CodedError {
  return new CodedError("connection_lost", `the daemon at ${path} closed the connection`, { cause });
}
