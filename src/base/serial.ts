// Runs async operations one after another. A failed operation does not stop the ones behind it.

export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operation, operation);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything queued so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
