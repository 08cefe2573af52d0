// Another client of the daemon: pings without a pause and records the time of each answer.
import type { RawClient } from "../support/raw-client.ts";

export class Pinger {
  slowestMs = 0;
  readonly timesMs: number[] = [];
  readonly #client: RawClient;
  readonly #done: Promise<void>;
  #isStopped = false;

  constructor(client: RawClient, pauseMs = 2) {
    this.#client = client;
    this.#done = this.#run(pauseMs);
    this.#done.catch(() => undefined); // reported by `stop`
  }

  get count(): number {
    return this.timesMs.length;
  }

  /** Of the pings starting with the `from`th. */
  p99Ms(from = 0): number {
    const sorted = this.timesMs.slice(from).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  }

  /** Rejects if a ping was not answered. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#done;
  }

  async #run(pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = performance.now();
      await this.#client.request({ type: "blemeesd.ping" });
      const tookMs = performance.now() - startedMs;
      this.timesMs.push(tookMs);
      this.slowestMs = Math.max(this.slowestMs, tookMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
