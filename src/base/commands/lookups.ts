// Shares lookups in the file system among those who ask at the same time: of a hundred requests in one directory, one
// resolves it. Nothing is kept once a lookup has ended, so no answer is older than the time that the file system takes.

export class Lookups {
  readonly #running = new Map<string, Promise<unknown>>();

  /** `key` must name the lookup in full, its kind included. */
  share<T>(key: string, look: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<T>;
    const started = look().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
