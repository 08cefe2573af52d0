// What waits to be written to one socket. Writes of a tick go out together; nobody ever awaits the socket.
// It is bounded by its users: they ask `isFull` before adding more, and the owner of the connection drops it
// when it stays full (spec §9.3).
import type { Socket } from "node:net";

export interface OutboxHandlers {
  /** There is room again. */
  drained(): void;
}

export class Outbox {
  readonly #socket: Socket;
  readonly #maxBytes: number;
  readonly #handlers: OutboxHandlers;
  #corked = false;
  #wasFull = false;
  /** Since when bytes wait without any of them getting away. */
  #waitingSinceMs: number | undefined;

  constructor(socket: Socket, maxBytes: number, handlers: OutboxHandlers) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  write(data: Buffer | string): void {
    if (!this.#socket.writable) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(this.#uncork);
    }
    this.#waitingSinceMs ??= Date.now();
    this.#socket.write(data, this.#wrote);
    if (this.isFull) this.#wasFull = true;
  }

  get isFull(): boolean {
    return this.#socket.writableLength > this.#maxBytes;
  }

  /** How long the other side has taken nothing while we are full. */
  stalledMs(nowMs: number): number {
    return this.isFull && this.#waitingSinceMs !== undefined ? nowMs - this.#waitingSinceMs : 0;
  }

  readonly #uncork = (): void => {
    this.#corked = false;
    this.#socket.uncork();
  };

  readonly #wrote = (error?: Error | null): void => {
    if (error) return; // the socket's own close event ends the connection
    this.#waitingSinceMs = this.#socket.writableLength > 0 ? Date.now() : undefined;
    if (this.#wasFull && !this.isFull) {
      this.#wasFull = false;
      this.#handlers.drained();
    }
  };
}
