// Replaces lone surrogates: JSON.stringify accepts them, but parsers in other languages reject the whole message.

const LONE = /\p{Surrogate}/gu;
const HIGH_AT_END = /[\ud800-\udbff]$/;

/** Copies a value with U+FFFD in place of lone surrogates. */
export function toWellFormed<T>(value: T): T {
  return replaceSurrogates(value) as T;
}

function replaceSurrogates(value: unknown): unknown {
  if (typeof value === "string") return value.replace(LONE, "\ufffd");
  if (Array.isArray(value)) return value.map(replaceSurrogates);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [replaceSurrogates(key), replaceSurrogates(item)]),
  );
}

/** Joins surrogate pairs that a stream split. */
export class SurrogateBuffer {
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
