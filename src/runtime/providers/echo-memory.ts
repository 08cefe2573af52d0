// What a vendor wants to have back with a tool call and what the history has no place for: signatures of thoughts,
// reasoning. Kept by the id of the call, as long as the provider lives; without it a vendor answers less well, or 400.

const MAX_ENTRIES = 2000;
const MAX_CHARS = 16 * 1024 * 1024;

export class EchoMemory<T> {
  readonly #kept = new Map<string, { value: T; chars: number }>();
  #chars = 0;

  /** The oldest go first when there are too many. */
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
