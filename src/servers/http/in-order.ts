// Serves the requests of a connection one at a time: the next starts when the previous reply is sent. A client that
// pipelines requests and never reads makes us hold one reply, not one per request.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Waiting requests per connection; at this number we stop reading from it. */
const MAX_WAITING = 64;

interface Waiting {
  outgoing: ServerResponse;
  serve(): void;
}

interface Queue {
  isServing: boolean;
  waiting: Waiting[];
}

export class InOrder {
  readonly #queues = new WeakMap<Socket, Queue>();

  /** Calls `serve` now, or after the earlier requests of the connection. */
  add(socket: Socket, outgoing: ServerResponse, serve: () => void): void {
    const queue = this.#queues.get(socket) ?? this.#open(socket);
    queue.waiting.push({ outgoing, serve });
    if (!queue.isServing) this.#next(socket, queue);
    else if (isLong(queue)) socket.pause();
  }

  #open(socket: Socket): Queue {
    const queue: Queue = { isServing: false, waiting: [] };
    this.#queues.set(socket, queue);
    // Node resumes the socket after every parsed request.
    socket.on("resume", () => {
      if (isLong(queue)) socket.pause();
    });
    return queue;
  }

  #next(socket: Socket, queue: Queue): void {
    const wasLong = isLong(queue);
    const next = queue.waiting.shift();
    queue.isServing = next !== undefined;
    if (wasLong && !isLong(queue)) socket.resume();
    if (next === undefined) return;
    next.outgoing.once("finish", () => {
      if (socket.writable) this.#next(socket, queue);
      else queue.waiting = []; // the connection is closing
    });
    next.serve();
  }
}

function isLong({ waiting }: Queue): boolean {
  return waiting.length >= MAX_WAITING;
}
