// A clock that moves only when a test moves it. Unlike vitest's timers it waits for nothing real, so thousands of
// sequences fit into a minute.
interface Timer {
  atMs: number;
  fire(): void;
}

export class Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Set<Timer>();
  readonly #real = { setTimeout, clearTimeout, now: Date.now };

  install(): void {
    Date.now = () => this.#nowMs;
    globalThis.setTimeout = ((fire: () => void, ms = 0) =>
      this.#add(fire, ms)) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: Timer | undefined) => {
      if (timer !== undefined) this.#timers.delete(timer);
    }) as typeof clearTimeout;
  }

  restore(): void {
    Date.now = this.#real.now;
    globalThis.setTimeout = this.#real.setTimeout;
    globalThis.clearTimeout = this.#real.clearTimeout;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Fires each timer that comes due, and lets it finish (`quiet`) before the next. */
  async advance(ms: number, quiet: () => Promise<void>): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fire();
      await quiet();
    }
    this.#nowMs = untilMs;
  }

  /** Timers of dropped objects must not fire into the next test. */
  clear(): void {
    this.#timers.clear();
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= untilMs && (first === undefined || timer.atMs < first.atMs)) first = timer;
    }
    return first;
  }

  #add(fire: () => void, ms: number): Timer & { unref(): void; ref(): void } {
    const timer = { atMs: this.#nowMs + ms, fire, unref: () => undefined, ref: () => undefined };
    this.#timers.add(timer);
    return timer;
  }
}
