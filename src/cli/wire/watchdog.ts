// Detects a daemon that stopped answering. A turn may be silent for hours, so the daemon is probed first.

export interface WatchdogParts {
  silenceMs: number;
  /** Whether an answer is expected. */
  isWaiting(): boolean;
  probe(): void;
  /** Called once, if the probe is not answered. */
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
