// Something that can be shut: whoever comes by waits until it is open.

export class Gate {
  #waiting: Promise<void> | undefined;
  #release: (() => void) | undefined;

  shut(): void {
    this.#waiting ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  open(): void {
    this.#release?.();
    this.#waiting = undefined;
    this.#release = undefined;
  }

  async passed(): Promise<void> {
    await this.#waiting;
  }
}
