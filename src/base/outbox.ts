// What waits to be written to one socket. Nobody ever awaits the socket: users ask `isFull` before they add more,
// and the owner of the connection drops it when it stays full (spec §9.3).
import type { Socket } from "node:net";

export interface OutboxHandlers {
  /** It was full and everything has been taken. */
  drained(): void;
  /** Where a protocol frames what goes to the socket; absent: the bytes go as they are. */
  write?(data: Buffer | string): void;
}

export class Outbox {
  readonly #socket: Socket;
  readonly #maxBytes: number;
  readonly #put: (data: Buffer | string) => void;
  readonly #drained: () => void;
  #wasFull = false;
  /** How far the other side had got when we last looked, and since when that has not changed. */
  #seen = { mark: "", atMs: 0 };

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

  /** Bytes that the kernel has not taken yet. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Tells nothing more. The socket may live on, for another use; what waits still goes out. */
  close(): void {
    this.#socket.off("drain", this.#drained);
  }

  /** How long the other side has taken nothing while we are full; exact to the interval between two calls. */
  stalledMs(nowMs: number): number {
    const mark = progressMark(this.#socket);
    if (!this.isFull || mark !== this.#seen.mark) this.#seen = { mark, atMs: nowMs };
    return nowMs - this.#seen.atMs;
  }
}

/** Changes whenever the other side takes something. How much is left of a large write is only in the handle. */
export function progressMark(socket: Socket): string {
  const left = (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
  return `${socket.bytesWritten - socket.writableLength} ${left}`;
}
