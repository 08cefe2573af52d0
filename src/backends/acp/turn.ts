// One prompt, as the run tracks it; the translator's part is `TurnState`.
import { readBootSeconds } from "../../base/boot-clock.ts";
import { CodedError } from "../../base/coded-error.ts";
import { readMonotonicMs } from "../../base/monotonic.ts";

export class AcpTurn {
  /** Seconds since boot at its start. */
  readonly sinceS: number;
  readonly #startedMs: number;
  /** Its result was emitted, or it needs none. */
  readonly over: Promise<void>;
  /** The prompt was sent; before that the session may have to be reloaded. */
  isSent = false;
  /** Tools waiting for an answer when it was cancelled, so they never started; undefined: not cancelled. */
  notBegun: ReadonlySet<string> | undefined;
  /** It was cancelled, and the agent did not report a command's end: it may still run. */
  leftRunning = false;
  #tellOver: () => void = () => undefined;

  /** `agoMs`: when it started. */
  constructor(agoMs: number) {
    this.sinceS = readBootSeconds() - agoMs / 1000;
    this.#startedMs = readMonotonicMs() - agoMs;
    this.over = new Promise((resolve) => {
      this.#tellOver = resolve;
    });
  }

  get durationMs(): number {
    return Math.round(readMonotonicMs() - this.#startedMs);
  }

  end(): void {
    this.#tellOver();
  }
}

export function busyError(name: string): CodedError {
  return new CodedError(
    "session_busy",
    `${name} is running a turn; wait for its agent.result or interrupt it`,
  );
}
