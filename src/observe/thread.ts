// One life of the thread that has observability.db open. When it dies, every call that waits and every later one
// rejects with the reason; disk-rows.ts starts another.
import { Worker } from "node:worker_threads";
import { messageOf } from "../base/coded-error.ts";
import type { MovedAside } from "../base/sqlite/database.ts";
import type { Op, Ops, WorkerReply, WorkerStart } from "./worker-calls.ts";

export interface ThreadOptions {
  path: string;
  /** The bundle of worker.ts. */
  workerUrl: URL;
  onAside(aside: MovedAside): void;
  /** It ended without being asked to. */
  onDeath(message: string): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class ObserveThread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #calls = 0;
  #death: string | undefined;
  #isClosing = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    const workerData: WorkerStart = { path: options.path };
    this.#worker = new Worker(options.workerUrl, {
      workerData,
      name: "observe",
      // Short-lived garbage only: a larger nursery would just hold it longer.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on("message", (reply: WorkerReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#die(messageOf(error)));
    this.#ended = new Promise((resolve) => {
      this.#worker.once("exit", (code) => {
        this.#die(`it ended with code ${code}`);
        resolve();
      });
    });
  }

  get isDead(): boolean {
    return this.#death !== undefined;
  }

  /** Calls are answered in order. */
  call<K extends Op>(op: K, order: Ops[K]["order"]): Promise<Ops[K]["reply"]> {
    if (this.#death !== undefined) return Promise.reject(new Error(this.#death));
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Ops[K]["reply"]), reject });
      this.#worker.postMessage({ id, op, order });
    });
  }

  /** Folds everything into one file. A thread that does not end in time is ended. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => void this.#worker.terminate(), limitMs);
    try {
      await this.call("close", undefined);
    } catch {
      // It is dead, or the file cannot be opened: what could be written was.
    }
    await this.#ended;
    clearTimeout(timer);
  }

  #settle({ id, value, fault, asides = [] }: WorkerReply): void {
    for (const aside of asides) this.#options.onAside(aside);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (fault === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(fault));
  }

  #die(message: string): void {
    if (this.#death !== undefined) return;
    this.#death = `the observability thread is gone: ${message}`;
    for (const { reject } of this.#waiting.values()) reject(new Error(this.#death));
    this.#waiting.clear();
    if (!this.#isClosing) this.#options.onDeath(message);
  }
}
