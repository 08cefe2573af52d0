// A connection that reconnects with backoff and lets its owner restore state before other writes resume. It ends on
// close(), on abort, if the daemon refuses the client, or when the attempts are used up.
import { CodedError, toMessage } from "../base/coded-error.ts";
import { type Backoff, computeDelayMs, wait } from "./backoff.ts";
import { type Connection, dial } from "./connection.ts";
import type { HelloAck, WireFrame } from "./frames.ts";

export interface LinkOptions {
  path: string;
  client: string;
  reconnect: Backoff | false;
  signal?: AbortSignal | undefined;
  onReconnecting?: ((attempt: { attempt: number; delayMs: number; cause: CodedError }) => void) | undefined;
  onReconnected?: ((hello: HelloAck) => void) | undefined;
}

export interface LinkHandlers {
  frame(frame: WireFrame): void;
  /** The connection was lost but may be restored. True: reconnect even if the cause is in HOPELESS. */
  dropped(cause: CodedError): boolean;
  /** Connected again: reattach with `write`. Rejecting with `connection_lost` starts over. */
  restore(write: (frame: object) => Promise<void>): Promise<void>;
  /** Ended for good. */
  ended(cause: CodedError): void;
}

/** Retrying would fail the same way. */
const HOPELESS = new Set([
  "protocol_mismatch",
  "bad_frame",
  "frame_too_large",
  "aborted",
  "connection_closed",
  "not_allowed",
]);

export class Link {
  readonly #options: LinkOptions;
  readonly #handlers: LinkHandlers;
  readonly #stop = new AbortController();
  #connection: Connection | undefined;
  #hello: HelloAck | undefined;
  #isUp = false;
  #isPaused = false;
  #ended: CodedError | undefined;
  #waiters: { resolve(): void; reject(error: CodedError): void }[] = [];

  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get hello(): HelloAck {
    if (this.#hello === undefined) throw new CodedError("not_connected", "not connected yet");
    return this.#hello;
  }

  /** The first attempt is not retried: the caller should know that no daemon is running. */
  async open(): Promise<void> {
    if (this.#options.signal?.aborted) this.#onAbort();
    try {
      await this.#dial();
    } catch (error) {
      this.#end(asCoded(error));
      throw error;
    }
    this.#isUp = this.#connection !== undefined;
  }

  /** Waits until connected, then writes. `before` runs in the same tick as the write. */
  async write(frame: object, before?: () => void): Promise<void> {
    while (!this.#isUp) await this.#untilUp();
    before?.();
    await this.#connection?.write(frame);
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#connection?.pause();
    else this.#connection?.resume();
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#end(new CodedError("connection_closed", "the client was closed"));
    await connection?.close();
  }

  async #dial(): Promise<void> {
    const { path, client } = this.#options;
    this.#isPaused = false;
    const connection = await dial(
      { path, client, signal: this.#stop.signal },
      { frame: this.#handlers.frame, closed: (cause) => void this.#onDrop(cause) },
    );
    this.#connection = connection;
    this.#hello = connection.hello;
  }

  async #onDrop(cause: CodedError): Promise<void> {
    const wasUp = this.#isUp;
    this.#isUp = false;
    this.#connection = undefined;
    if (this.#ended !== undefined) return;
    const canRetry = this.#handlers.dropped(cause);
    // During a restore the reconnect loop is already running and notices the loss itself.
    if (wasUp) await this.#reconnect(canRetry ? new CodedError("connection_lost", cause.message) : cause);
  }

  async #reconnect(first: CodedError): Promise<void> {
    let cause = first;
    for (let attempt = 1; this.#ended === undefined; attempt += 1) {
      const { reconnect } = this.#options;
      if (reconnect === false || HOPELESS.has(cause.code) || attempt > (reconnect.attempts ?? Infinity)) {
        this.#end(cause);
        return;
      }
      try {
        const pauseMs = computeDelayMs(reconnect, attempt);
        this.#options.onReconnecting?.({ attempt, delayMs: pauseMs, cause });
        await wait(pauseMs, this.#stop.signal);
        await this.#dial();
        await this.#handlers.restore(async (frame) => this.#connection?.write(frame));
        if (this.#connection === undefined) throw cause;
        this.#markUp();
        return;
      } catch (error) {
        cause =
          error instanceof CodedError
            ? error
            : new CodedError("internal", toMessage(error), { cause: error });
      }
    }
  }

  #markUp(): void {
    this.#isUp = true;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.resolve();
    this.#options.onReconnected?.(this.hello);
  }

  #untilUp(): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  readonly #onAbort = (): void => this.#end(new CodedError("aborted", "aborted by the caller"));

  #end(cause: CodedError): void {
    if (this.#ended !== undefined) return;
    this.#ended = cause;
    this.#isUp = false;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    void this.#connection?.close(cause); // close() above waits for it
    this.#stop.abort(cause);
    for (const waiter of this.#waiters) waiter.reject(cause);
    this.#waiters = [];
    this.#handlers.ended(cause);
  }
}

function asCoded(error: unknown): CodedError {
  return error instanceof CodedError ? error : new CodedError("internal", toMessage(error), { cause: error });
}
