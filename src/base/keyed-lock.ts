// One lock per key, granted in order of requests. Requests are synchronous, so a call of `free` after a call of `lock` waits
// for that lock.

export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves with the function that releases the lock. */
  async lock(key: string): Promise<() => void> {
    const before = this.#tails.get(key);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tail = (before ?? Promise.resolve()).then(() => held);
    this.#tails.set(key, tail);
    await before;
    return () => {
      release();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
  }

  /** Resolves when all locks requested so far are released. */
  async free(key: string): Promise<void> {
    await this.#tails.get(key);
  }

  /** Keys that are locked or requested. */
  get size(): number {
    return this.#tails.size;
  }
}
