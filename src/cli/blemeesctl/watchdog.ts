// Notices a daemon that no longer answers. A turn may be quiet for hours, so silence is not enough: the daemon is asked
// first, and counts as gone when it is silent after that too.

export interface WatchdogParts {
  silenceMs: number;
  /** Whether anything is expected from the daemon. */
  isWaiting(): boolean;
  /** Asks the daemon for any reply. */
  probe(): void;
  /** It did not reply. Called once. */
  gone(): void;
}

export class Watchdog {
  readonly #parts: WatchdogParts;
  readonly #timer: NodeJS.Timeout;
  #isHeard = true;
  #isProbed = false;

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), parts.silenceMs);
  }

  /** Something came. */
  heard(): void {
    this.#isHeard = true;
    this.#isProbed = false;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { isWaiting, probe, gone } = this.#parts;
    if (this.#isHeard || !isWaiting()) {
      this.#isHeard = false;
      this.#isProbed = false;
      return;
    }
    if (this.#isProbed) {
      this.close();
      gone();
      return;
    }
    this.#isProbed = true;
    probe();
  }
}
