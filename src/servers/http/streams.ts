// Server-sent events on raw responses. Sources never wait for a reader: they check `isFull` and continue later, and the
// server drops readers that stop reading (server.ts).
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { CodedError } from "../../base/coded-error.ts";
import { Outbox } from "../../base/outbox.ts";

const RETRY_MS = 1_000;

export interface StreamHandlers {
  /** There is room again. */
  drained(): void;
  /** The reader disconnected, or the stream was closed. Called once. */
  ended(): void;
}

export interface StreamLimits {
  maxStreams: number;
  outboxBytes: number;
  heartbeatMs: number;
}

/** Batches already formatted as events. */
export type BatchTexts = WeakMap<Buffer, Buffer>;

/** The table of open streams. */
export class Streams {
  readonly texts: BatchTexts = new WeakMap();
  readonly #limits: StreamLimits;
  readonly #open = new Set<EventStream>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#heartbeat = setInterval(() => {
      for (const stream of this.#open) stream.beat();
    }, limits.heartbeatMs);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Reserves a stream; nothing is sent before `begin`. Throws `too_many_streams`. */
  open(outgoing: ServerResponse): EventStream {
    if (this.#open.size >= this.#limits.maxStreams) {
      throw new CodedError(
        "too_many_streams",
        `${this.#open.size} event streams are open; close one or wait`,
      );
    }
    if (outgoing.socket === null) throw new CodedError("invalid_message", "the client disconnected");
    const stream = new EventStream(outgoing, outgoing.socket, this.#limits.outboxBytes, () =>
      this.#open.delete(stream),
    );
    this.#open.add(stream);
    return stream;
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const stream of [...this.#open]) stream.end();
  }
}

export class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #outbox: Outbox;
  readonly #left: () => void;
  #handlers: StreamHandlers | undefined;
  #isOver = false;

  constructor(outgoing: ServerResponse, socket: Socket, maxBytes: number, left: () => void) {
    this.#outgoing = outgoing;
    this.#left = left;
    this.#outbox = new Outbox(socket, maxBytes, {
      drained: () => this.#handlers?.drained(),
      write: (data) => void outgoing.write(data),
    });
    outgoing.once("close", () => this.end());
  }

  /** Sends the head. Calls `ended` at once if the reader has disconnected. */
  begin(handlers: StreamHandlers): void {
    if (this.#isOver) {
      handlers.ended();
      return;
    }
    this.#handlers = handlers;
    this.#outgoing.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      // One stream per connection: its end is noticed, and no request waits for it.
      connection: "close",
      "x-accel-buffering": "no",
    });
    this.write(`retry: ${RETRY_MS}\n: ready\n\n`);
  }

  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  write(events: string | Buffer): void {
    if (!this.#isOver) this.#outbox.write(events);
  }

  send(event: string, data: object, id?: string): void {
    this.write(formatEvent(event, JSON.stringify(data), id));
  }

  beat(): void {
    if (this.#handlers !== undefined && !this.isFull) this.write(": alive\n\n");
  }

  /** Safe to call twice. Before `begin` it only releases the reservation. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#outbox.close();
    this.#left();
    if (this.#handlers === undefined) return;
    this.#handlers.ended();
    this.#outgoing.end();
  }
}

/** `data` must be one line. */
export function formatEvent(event: string, data: string, id?: string | number): string {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${data}\n\n`;
}
