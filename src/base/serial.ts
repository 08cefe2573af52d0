// Runs async operations one after another. A failed operation does not stop later ones.

export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  run<T>(operation: () => Promise<T>): Promise<T> {
    return this.#queue(this.#last.then(operation, operation));
  }

  /** The same, but starts the operation synchronously if nothing is running. */
  begin<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#waiting > 0) return this.run(operation);
    // Operations queued by this one run after it.
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
