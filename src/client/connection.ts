// One socket connection to the daemon: handshake, framing and parsing. Sessions, requests and reconnecting are handled
// elsewhere.
import { createConnection, type Socket } from "node:net";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { LineSplitter } from "../base/ndjson.ts";
import { explainConnectError } from "./discover.ts";
import { FEATURE_NAMES, type HelloAck, PROTOCOL_NAME, type WireFrame } from "./frames.ts";

/** Twice what the daemon accepts from clients, because its frames wrap agent output. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const HELLO_TIMEOUT_MS = 5_000;

export interface ConnectionHandlers {
  frame(frame: WireFrame): void;
  /** Called once, with the reason, when a connection ends after a successful handshake. */
  closed(error: CodedError): void;
}

export interface DialOptions {
  path: string;
  client: string;
  /** Aborts the attempt; does not affect an established connection. */
  signal?: AbortSignal | undefined;
  /** Called with every outgoing frame, including hello. */
  onSent?: ((frame: object) => void) | undefined;
}

/** Connects and performs the handshake; rejects with a CodedError that explains what to do. */
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
  /** Why the connection ended or is ending; the first reason is kept. */
  #reason: CodedError | undefined;

  /** Created by `dial`. */
  constructor(socket: Socket, options: DialOptions, handlers: ConnectionHandlers, handshake: Handshake) {
    this.#socket = socket;
    this.#options = options;
    this.#handlers = handlers;
    this.#handshake = handshake;
    const splitter = new LineSplitter(MAX_FRAME_BYTES, {
      line: (text) => this.#line(text),
      badLine: () => this.#fail(new CodedError("bad_frame", "the daemon sent a line that is not UTF-8")),
      oversize: (bytes) =>
        this.#fail(new CodedError("frame_too_large", `the daemon sent a frame larger than ${bytes} bytes`)),
    });
    socket.on("data", (chunk: Buffer) => splitter.push(chunk));
    socket.once("connect", () => this.#sayHello());
    socket.once("error", (error) => this.#fail(this.#explain(error)));
    socket.once("close", () => this.#onClose());
    this.#timer = setTimeout(() => {
      this.#fail(
        new CodedError(
          "no_handshake",
          `${options.path} did not answer the handshake within ${HELLO_TIMEOUT_MS} ms`,
        ),
      );
    }, HELLO_TIMEOUT_MS);
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
  }

  /** The daemon's reply to the handshake. */
  get hello(): HelloAck {
    if (this.#hello === undefined) throw new CodedError("not_connected", "the handshake is not complete");
    return this.#hello;
  }

  /** Resolves when the system has accepted the bytes; awaiting it applies backpressure. */
  write(frame: object): Promise<void> {
    this.#options.onSent?.(frame);
    return new Promise((resolve, reject) => {
      this.#socket.write(`${JSON.stringify(frame)}\n`, (error) => {
        if (error) reject(this.#reason ?? connectionLost(this.#options.path, error));
        else resolve();
      });
    });
  }

  /** Stops reading, so that the daemon's queue fills instead of our memory. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes the connection after pending writes; `closed` gets this reason. Safe to call twice. */
  async close(reason = new CodedError("connection_closed", "the connection was closed")): Promise<void> {
    this.#reason ??= reason;
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.destroySoon();
    await closed;
  }

  readonly #onAbort = (): void => this.#fail(new CodedError("aborted", "aborted by the caller"));

  #sayHello(): void {
    this.write(helloFrame(this.#options.client)).catch(() => undefined); // the close event reports it
  }

  #line(text: string): void {
    // Nothing after a bad line may count as seen, or a resume would skip what was lost.
    if (this.#socket.destroyed) return;
    let frame: WireFrame;
    try {
      frame = JSON.parse(text);
    } catch (cause) {
      this.#fail(
        new CodedError("bad_frame", `the daemon sent a line that is not JSON: ${toMessage(cause)}`, {
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
        new CodedError("bad_frame", `expected hello_ack from ${this.#options.path}, got ${frame.type}`),
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
      : connectionLost(this.#options.path, error);
  }

  #fail(error: CodedError): void {
    this.#reason ??= error;
    this.#socket.destroy();
  }

  #onClose(): void {
    const reason = this.#reason ?? connectionLost(this.#options.path);
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

function connectionLost(path: string, cause?: unknown): CodedError {
  return new CodedError("connection_lost", `the daemon at ${path} closed the connection`, { cause });
}
