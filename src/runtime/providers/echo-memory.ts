// Vendor data that must be sent back with a tool call but has no place in the history: reasoning and its signatures. Kept
// by call id for the life of the provider; without it, answers get worse or fail with 400.

const MAX_ENTRIES = 2000;
const MAX_CHARS = 16 * 1024 * 1024;

export class EchoMemory<T> {
  readonly #kept = new Map<string, { value: T; chars: number }>();
  #chars = 0;

  /** Evicts the oldest entries over the limits. */
  keep(callId: string, value: T): void {
    this.#drop(callId);
    const chars = JSON.stringify(value)?.length ?? 0;
    this.#kept.set(callId, { value, chars });
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_ENTRIES && this.#chars <= MAX_CHARS) return;
      this.#drop(oldest);
    }
  }

  find(callId: string | undefined): T | undefined {
    return callId === undefined ? undefined : this.#kept.get(callId)?.value;
  }

  #drop(callId: string): void {
    this.#chars -= this.#kept.get(callId)?.chars ?? 0;
    this.#kept.delete(callId);
  }
}
