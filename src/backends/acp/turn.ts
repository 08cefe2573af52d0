// One prompt, as the run follows it; what the translator knows of the same one is `TurnState`.
import { uptime } from "node:os";

export class Turn {
  /** `os.uptime()` when it began. */
  readonly sinceS = uptime();
  readonly #startedMs = performance.now();
  /** Its result has been told, or it needs none. */
  readonly over: Promise<void>;
  /** The prompt is on its way; before, the session may have to be loaded again. */
  isSent = false;
  /** Tools that waited for an answer when it was cancelled, so they never began; undefined: it was not cancelled. */
  notBegun: ReadonlySet<string> | undefined;
  /** It was cancelled, and the agent said nothing of the end of a command: it may still run. */
  leftRunning = false;
  #tellOver: () => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#tellOver = resolve;
    });
  }

  get durationMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  end(): void {
    this.#tellOver();
  }
}
