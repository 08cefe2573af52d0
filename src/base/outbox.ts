// Bytes waiting to be written to a socket. Callers never await the socket: they check `isFull` before adding more, and the
// owner of the connection drops a client that stops reading (`StallDetector`).
import type { Socket } from "node:net";

export interface OutboxHandlers {
  /** It was full and is now empty. */
  drained(): void;
  /** Replaces the plain write to the socket, for protocols with their own framing. */
  write?(data: Buffer | string): void;
}

export class Outbox {
  readonly #socket: Socket;
  readonly #maxBytes: number;
  readonly #put: (data: Buffer | string) => void;
  readonly #drained: () => void;
  #wasFull = false;

  constructor(socket: Socket, maxBytes: number, handlers: OutboxHandlers) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#put = handlers.write?.bind(handlers) ?? ((data) => void socket.write(data));
    this.#drained = () => {
      if (!this.#wasFull) return;
      this.#wasFull = false;
      handlers.drained();
    };
    socket.on("drain", this.#drained);
  }

  write(data: Buffer | string): void {
    if (!this.#socket.writable) return;
    this.#put(data);
    if (this.isFull) this.#wasFull = true;
  }

  get isFull(): boolean {
    return this.#socket.writableLength > this.#maxBytes;
  }

  /** Bytes the kernel has not accepted yet. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Stops calling `drained`. Waiting bytes are still sent. */
  close(): void {
    this.#socket.off("drain", this.#drained);
  }
}

/**
 * Finds sockets whose other side has stopped reading: more than `minBytes` wait, and no byte was taken between this many
 * checks in a row. Counts checks rather than time, so that a client is not blamed while our own process was blocked.
 */
export class StallDetector {
  readonly #seen = new WeakMap<Socket, { mark: string; checks: number }>();
  readonly #maxChecks: number;
  readonly #minBytes: number;

  constructor(maxChecks: number, minBytes = 0) {
    this.#maxChecks = maxChecks;
    this.#minBytes = minBytes;
  }

  /** Call once per interval for each socket. */
  isStalled(socket: Socket): boolean {
    const mark = readProgress(socket);
    const seen = this.#seen.get(socket);
    const isStuck = socket.writableLength > this.#minBytes && mark === seen?.mark;
    const checks = isStuck ? (seen?.checks ?? 0) + 1 : 0;
    this.#seen.set(socket, { mark, checks });
    return isStuck && checks >= this.#maxChecks;
  }
}

/** Changes whenever the other side reads something. Only the handle knows how much of a large write is left. */
function readProgress(socket: Socket): string {
  const left = (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
  return `${socket.bytesWritten - socket.writableLength} ${left}`;
}
