// One lock a key, granted in the order of asking. The asking itself is synchronous, so whoever calls `free`
// after somebody called `lock` waits for that one.

export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves with the function that gives the lock back. */
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

  /** Resolves when nobody who asked before now holds the lock. */
  async free(key: string): Promise<void> {
    await this.#tails.get(key);
  }

  /** Keys that are held or asked for. */
  get size(): number {
    return this.#tails.size;
  }
}
