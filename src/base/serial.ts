// Runs async operations one after another. A failed operation does not stop the ones behind it.

export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  run<T>(operation: () => Promise<T>): Promise<T> {
    return this.#queue(this.#last.then(operation, operation));
  }

  /** The same, but with nothing in its way the operation begins before this returns. */
  begin<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#waiting > 0) return this.run(operation);
    // What the operation itself queues comes behind it.
    let isBegun: (result: Promise<T>) => void = () => undefined;
    const begun = this.#queue(
      new Promise<T>((resolve) => {
        isBegun = resolve;
      }),
    );
    isBegun(operation());
    return begun;
  }

  /** Resolves when everything queued so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #queue<T>(result: Promise<T>): Promise<T> {
    this.#waiting += 1;
    const done = () => {
      this.#waiting -= 1;
    };
    this.#last = result.then(done, done);
    return result;
  }
}
