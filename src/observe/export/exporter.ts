// When spans are sent: a moment after rows were written, and again after a failure, later each time. What is not sent yet
// stays in the database, so nothing is lost by a restart and nothing waits in memory.
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { RestingThread } from "../resting-thread.ts";
import type { ExportOrder } from "./post.ts";

export interface ExporterTimes {
  /** Rows are collected for this long. */
  delayMs: number;
  /** Between attempts; doubled up to `maxRetryMs`. */
  retryMs: number;
  maxRetryMs: number;
}

export interface ExporterOptions {
  thread: Pick<RestingThread, "ask">;
  order: ExportOrder;
  log: Log;
  metrics: Metrics;
  times: ExporterTimes;
}

export const EXPORTER_TIMES: ExporterTimes = { delayMs: 2_000, retryMs: 1_000, maxRetryMs: 300_000 };

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #sent: ReturnType<Metrics["counter"]>;
  readonly #failed: ReturnType<Metrics["counter"]>;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  /** Rows were written while it ran. */
  #isWanted = false;
  #failures = 0;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#sent = metrics.counter("blemees_otel_rows_total", "Turns and tool calls sent to the collector.");
    this.#failed = metrics.counter(
      "blemees_otel_failures_total",
      "Requests that the collector did not accept.",
    );
  }

  /** At once: notes in the database where the history to be sent begins. */
  start(): void {
    void this.#run();
  }

  /** Rows were written. */
  note(): void {
    if (this.#running) this.#isWanted = true;
    else this.#schedule(this.#options.times.delayMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(afterMs: number): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, afterMs);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const { thread, order, log, times } = this.#options;
    this.#running = true;
    this.#isWanted = false;
    let nextMs: number | undefined;
    try {
      const { spans, hasMore } = await thread.ask("export", order);
      this.#sent.add(spans);
      if (this.#failures > 0) log.info("otel.recovered", { failures: this.#failures });
      this.#failures = 0;
      if (hasMore) nextMs = 0;
    } catch (error) {
      this.#failures += 1;
      this.#failed.add();
      if (this.#failures === 1 && !this.#isClosed) log.warn("otel.failed", { message: toMessage(error) });
      nextMs = Math.min(times.retryMs * 2 ** (this.#failures - 1), times.maxRetryMs);
    }
    this.#running = false;
    if (nextMs === undefined && this.#isWanted) nextMs = times.delayMs;
    if (nextMs !== undefined) this.#schedule(nextMs);
  }
}
