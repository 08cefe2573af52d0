// Calls to a worker thread: each has an id, and the reply carries it. When the thread ends, pending and later calls
// reject with the reason.
import { Worker } from "node:worker_threads";
import { CodedError, toMessage } from "./coded-error.ts";

export interface ThreadOptions {
  /** Used in messages: "the store thread failed". */
  name: string;
  url: URL;
  workerData: unknown;
}

export interface WorkerOptions<Reply> extends ThreadOptions {
  /** The same thread, started earlier by `startThread`. */
  worker?: Worker | undefined;
  /** Called for every reply, before its call resolves. */
  onReply?(reply: Reply): void;
  onEnd?(error: CodedError): void;
}

interface Pending<Reply> {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** A thread with this many pending calls is stuck; more would only use memory. */
const MAX_PENDING = 10_000;

export function startThread({ name, url, workerData }: ThreadOptions): Worker {
  // Short-lived garbage only: a larger nursery would just hold it longer.
  return new Worker(url, { workerData, name, resourceLimits: { maxYoungGenerationSizeMb: 2 } });
}

export class WorkerThread<Call extends object, Reply extends { id: number }> {
  readonly ended: Promise<void>;
  readonly #name: string;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending<Reply>>();
  #lastId = 0;
  #failure: CodedError | undefined;

  constructor({ name, onReply, onEnd, worker, ...thread }: WorkerOptions<Reply>) {
    this.#name = name;
    this.#worker = worker ?? startThread({ name, ...thread });
    // One that was started earlier did not keep the process alive.
    this.#worker.ref();
    const end = (message: string, cause?: unknown) => {
      if (this.#failure !== undefined) return;
      this.#failure = new CodedError("internal", `the ${name} thread ${message}`, { cause });
      for (const { reject } of this.#pending.values()) reject(this.#failure);
      this.#pending.clear();
      onEnd?.(this.#failure);
    };
    this.#worker.on("message", (reply: Reply) => {
      onReply?.(reply);
      this.#pending.get(reply.id)?.resolve(reply);
      this.#pending.delete(reply.id);
    });
    this.#worker.on("error", (error) => end(`failed: ${toMessage(error)}`, error));
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", (code) => {
        end(`ended with code ${code}`);
        resolve();
      });
    });
  }

  /** Why the thread is gone; undefined while it runs. */
  get failure(): CodedError | undefined {
    return this.#failure;
  }

  /** Rejects if no reply can come. `isLimited: false` is for the few calls that let a slow thread catch up or end. */
  call(call: Call, { isLimited = true } = {}): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (isLimited && this.#pending.size >= MAX_PENDING) {
      return Promise.reject(
        new CodedError(
          "internal",
          `the ${this.#name} thread does not answer; ${MAX_PENDING} calls are pending`,
        ),
      );
    }
    this.#lastId += 1;
    this.#worker.postMessage({ ...call, id: this.#lastId });
    return this.awaitReply(this.#lastId);
  }

  /** A reply without a call: 0 is sent by a worker that is ready. */
  awaitReply(id: number): Promise<Reply> {
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}
