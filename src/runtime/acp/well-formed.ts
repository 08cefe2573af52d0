// Text that every client can read: half a character (a lone surrogate) passes JSON.stringify, but parsers in other
// languages refuse the whole message.

const LONE = /\p{Surrogate}/gu;
const HIGH_AT_END = /[\ud800-\udbff]$/;

/** The same value; half characters in its texts become U+FFFD. */
export function wellFormed<T>(value: T): T {
  return mended(value) as T;
}

function mended(value: unknown): unknown {
  if (typeof value === "string") return value.replace(LONE, "\ufffd");
  if (Array.isArray(value)) return value.map(mended);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mended(key), mended(item)]));
}

/** Puts characters together that a stream cut in two: the first half waits for the second. */
export class Halves {
  #held = "";

  push(text: string): string {
    const whole = this.#held + text;
    this.#held = HIGH_AT_END.exec(whole)?.[0] ?? "";
    return this.#held === "" ? whole : whole.slice(0, -1);
  }

  clear(): void {
    this.#held = "";
  }
}
