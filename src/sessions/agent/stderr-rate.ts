// Limits how many stderr lines of an agent are shown per time window, and counts the rest.
import { RateLimit } from "../../base/rate-limit.ts";

export class StderrRate {
  readonly #limit: RateLimit;

  constructor({ lines, windowMs }: { lines: number; windowMs: number }) {
    this.#limit = new RateLimit(lines, windowMs);
  }

  /** What to show for this line: nothing, the line, or first the number of dropped lines. */
  take(line: string): string[] {
    if (!this.#limit.allow(Date.now())) return [];
    const dropped = this.#limit.takeRefused();
    return dropped > 0 ? [`[${dropped} lines dropped]`, line] : [line];
  }
}
