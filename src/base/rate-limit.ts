// A sliding window: at most `limit` events in any `windowMs`. Counts refused events, so that the caller can report them.

export class RateLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  #times: number[] = [];
  #refused = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  allow(nowMs: number): boolean {
    while (this.#times.length > 0 && (this.#times[0] ?? 0) <= nowMs - this.#windowMs) this.#times.shift();
    if (this.#times.length < this.#limit) {
      this.#times.push(nowMs);
      return true;
    }
    this.#refused += 1;
    return false;
  }

  /** How many were refused since the last call. */
  takeRefused(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }
}
