// One turn of the root thread, as the run follows it: its id, who began it, its end, and the clock that bounds
// endless retries.
import { uptime } from "node:os";
import type { ResultEvent } from "../../../protocol/events.ts";

export class Turn {
  /** Unknown until Codex has taken the message. */
  id: string | undefined;
  /** `os.uptime()` when it began. */
  readonly sinceS = uptime();
  /** Its result has been told, or it needs none. */
  readonly over: Promise<void>;
  /** Given up by us: whatever Codex still says about it comes too late. */
  isAbandoned = false;
  /** Ends it with this error instead of what Codex says. */
  verdict: { code: string; message: string } | undefined;
  #tellOver: () => void = () => undefined;
  #retryClock: NodeJS.Timeout | undefined;
  #retryWords = "";

  constructor(id?: string) {
    this.id = id;
    this.over = new Promise((resolve) => {
      this.#tellOver = resolve;
    });
  }

  end(): void {
    this.stopClock();
    this.#tellOver();
  }

  /** Codex tries again. `giveUp` is called when nothing else has happened for so long; 0 ms: never. */
  retrying(words: string, limitMs: number, giveUp: () => void): void {
    this.#retryWords = words;
    if (limitMs <= 0 || this.#retryClock !== undefined) return;
    this.#retryClock = setTimeout(() => {
      const message = `gave up after ${Math.round(limitMs / 1000)} s of retries: ${this.#retryWords}`;
      this.verdict = { code: "network", message };
      giveUp();
    }, limitMs);
    this.#retryClock.unref();
  }

  stopClock(): void {
    clearTimeout(this.#retryClock);
    this.#retryClock = undefined;
  }

  /** What is told as its result. */
  judge(result: ResultEvent): ResultEvent {
    return this.verdict === undefined ? result : { ...result, subtype: "error", error: this.verdict };
  }
}
