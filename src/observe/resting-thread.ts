// The observability thread, started when it is needed and stopped when it has been idle. A thread that fails is replaced.
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { ObserveThread } from "./thread.ts";
import type { Op, Ops } from "./worker-calls.ts";

export interface RestingOptions {
  path: string;
  searchPath: string;
  workerUrl: URL;
  log: Log;
  metrics: Metrics;
  times: { idleMs: number; closeMs: number };
}

export class RestingThread {
  readonly #options: RestingOptions;
  #thread: ObserveThread | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The idle thread is stopping; the next one starts when the files are free. */
  #resting: Promise<void> | undefined;
  #pending = 0;
  #isClosed = false;

  constructor(options: RestingOptions) {
    this.#options = options;
    options.metrics.gauge("blemees_observe_thread_running", "1 while observability.db is open.", () =>
      this.#thread === undefined ? 0 : 1,
    );
  }

  async ask<K extends Op>(op: K, order: Ops[K]["order"]): Promise<Ops[K]["reply"]> {
    clearTimeout(this.#idleTimer);
    this.#pending += 1;
    try {
      await this.#resting;
      return await this.#open().call(op, order);
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0 && !this.#isClosed) this.#restLater();
    }
  }

  /** After the last call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    await this.#resting;
    await this.#thread?.close(this.#options.times.closeMs);
    this.#thread = undefined;
  }

  #open(): ObserveThread {
    const { path, searchPath, workerUrl, log } = this.#options;
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new ObserveThread({
        ...{ path, searchPath, workerUrl },
        onAside: ({ aside, cut_bytes }) => log.warn("observe.recovered", { aside, bytes: cut_bytes }),
        onFailure: (message) => {
          this.#thread = undefined;
          log.error("observe.thread_died", { message });
        },
      });
    }
    return this.#thread;
  }

  #restLater(): void {
    const { idleMs, closeMs } = this.#options.times;
    this.#idleTimer = setTimeout(() => {
      const thread = this.#thread;
      this.#thread = undefined;
      this.#resting = thread?.close(closeMs).finally(() => {
        this.#resting = undefined;
      });
    }, idleMs);
    this.#idleTimer.unref();
  }
}
