// One turn of the root thread, as the run tracks it: its id, origin, end, and the timer that bounds endless retries.

import { readBootSeconds } from "../../../base/boot-clock.ts";
import { CodedError } from "../../../base/coded-error.ts";
import type { ResultEvent } from "../../../protocol/events.ts";

export class CodexTurn {
  /** Unknown until Codex has accepted the message. */
  id: string | undefined;
  /** Seconds since boot at its start. */
  readonly sinceS: number;
  /** Its result was emitted, or it needs none. */
  readonly over: Promise<void>;
  /** Abandoned by us: further messages about it are too late. */
  isAbandoned = false;
  /** Ends it with this error instead of Codex's. */
  verdict: { code: string; message: string } | undefined;
  #tellOver: () => void = () => undefined;
  #retryClock: NodeJS.Timeout | undefined;
  #retryWords = "";

  /** `agoMs`: when it started. */
  constructor(id?: string, agoMs = 0) {
    this.id = id;
    this.sinceS = readBootSeconds() - agoMs / 1000;
    this.over = new Promise((resolve) => {
      this.#tellOver = resolve;
    });
  }

  end(): void {
    this.stopClock();
    this.#tellOver();
  }

  /** Codex is retrying. Calls `giveUp` if nothing else happens for this long; 0 disables. */
  retrying(words: string, limitMs: number, giveUp: () => void): void {
    this.#retryWords = words;
    if (limitMs <= 0 || this.#retryClock !== undefined) return;
    this.#retryClock = setTimeout(giveUp, limitMs);
    this.#retryClock.unref();
  }

  /** It has retried for so long. */
  giveUp(limitMs: number): void {
    const message = `gave up after retrying for ${Math.round(limitMs / 1000)} s: ${this.#retryWords}`;
    this.verdict = { code: "network", message };
  }

  stopClock(): void {
    clearTimeout(this.#retryClock);
    this.#retryClock = undefined;
  }

  /** Its reported result. */
  judge(result: ResultEvent): ResultEvent {
    return this.verdict === undefined ? result : { ...result, subtype: "error", error: this.verdict };
  }
}

export function busyError(): CodedError {
  return new CodedError("session_busy", "Codex is running a turn; wait for its agent.result or interrupt it");
}
