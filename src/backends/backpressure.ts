// Pauses an agent while its reader is slow, except while a turn is being interrupted, whose end must get through.

/** Where a run reads from. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

export class Backpressure {
  readonly #source: Pausable;
  #isPaused = false;
  #interrupting: Promise<void> | undefined;

  constructor(source: Pausable) {
    this.#source = source;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#interrupting === undefined) this.#source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.resume();
  }

  /** Calls during `work` share its promise. Resumes the source if there is something to interrupt. */
  interrupt(work: () => Promise<void>): Promise<void> {
    this.#interrupting ??= work().finally(() => {
      this.#interrupting = undefined;
      if (this.#isPaused) this.#source.pause();
    });
    return this.#interrupting;
  }
}
