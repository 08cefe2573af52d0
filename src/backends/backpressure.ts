// Pauses an agent while its reader is slow, except while a turn is being interrupted, whose end must get through.
import type { Pausable } from "../base/coalesce.ts";

export class Backpressure {
  readonly #source: Pausable;
  #isPaused = false;
  /** Of the current turn. */
  #interrupting: Promise<void> | undefined;
  /** Interrupts at work, also those that tidy up after a turn that is over. */
  #working = 0;

  constructor(source: Pausable) {
    this.#source = source;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#working === 0) this.#source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.resume();
  }

  /** Calls about the same turn share the promise. `work` resumes the source if there is something to interrupt. */
  interrupt(work: () => Promise<void>): Promise<void> {
    if (this.#interrupting !== undefined) return this.#interrupting;
    this.#working += 1;
    const interrupting = work().finally(() => {
      this.#working -= 1;
      if (this.#interrupting === interrupting) this.turnOver();
      if (this.#isPaused && this.#working === 0) this.#source.pause();
    });
    this.#interrupting = interrupting;
    return interrupting;
  }

  /** The next interrupt is about another turn, even while this one's is still at work. */
  turnOver(): void {
    this.#interrupting = undefined;
  }
}
