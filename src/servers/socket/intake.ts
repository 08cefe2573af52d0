// Lines of a client on their way to the handlers. While the client has too much in progress, lines already read wait here
// and its socket is paused, so that memory use is bounded.
import type { Socket } from "node:net";

export interface IntakeParts<T> {
  socket: Socket;
  /** Whether the client may start another request. */
  hasRoom(): boolean;
  handle(line: T): void;
}

export class Intake<T> {
  readonly #parts: IntakeParts<T>;
  /** At most the lines of one read: the socket is paused while any wait. */
  #waiting: T[] = [];
  #isPaused = false;
  #isClosed = false;

  constructor(parts: IntakeParts<T>) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  push(line: T): void {
    if (this.#isClosed) return;
    if (this.#isPaused) {
      this.#waiting.push(line);
      return;
    }
    this.#parts.handle(line);
    if (!this.#isClosed && !this.#parts.hasRoom()) this.#pause(true);
  }

  /** Handles waiting lines while there is room. Call it whenever there may be room again. */
  advance(): void {
    const { handle, hasRoom } = this.#parts;
    while (!this.#isClosed && hasRoom()) {
      const [line] = this.#waiting.splice(0, 1);
      if (line === undefined) {
        this.#pause(false);
        return;
      }
      handle(line);
    }
  }

  /** Stops handling lines; the caller decides what to do with the socket. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#parts.socket.pause();
    else this.#parts.socket.resume();
  }
}
