// How much of an agent's stderr is shown: so many lines a window, and how many were not.
import { RateLimit } from "../../base/rate-limit.ts";

export class StderrRate {
  readonly #limit: RateLimit;

  constructor({ lines, windowMs }: { lines: number; windowMs: number }) {
    this.#limit = new RateLimit(lines, windowMs);
  }

  /** What to show for this line: nothing, it, or first how many were left out before it. */
  take(line: string): string[] {
    if (!this.#limit.allow(Date.now())) return [];
    const dropped = this.#limit.takeRefused();
    return dropped > 0 ? [`[${dropped} lines dropped]`, line] : [line];
  }
}
