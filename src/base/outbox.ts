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
  /** What the other side had taken when we last looked, and since when that has not changed. */
  #seen = { taken: -1, atMs: 0 };

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

  /** Tells nothing more. The socket may live on, for another use; what waits still goes out. */
  close(): void {
    this.#socket.off("drain", this.#drained);
  }

  /** How long the other side has taken nothing while we are full; exact to the interval between two calls. */
  stalledMs(nowMs: number): number {
    const taken = this.#socket.bytesWritten - this.#socket.writableLength;
    if (!this.isFull || taken !== this.#seen.taken) this.#seen = { taken, atMs: nowMs };
    return nowMs - this.#seen.atMs;
  }
}
