// What the user did between two messages, for the model to read with the next one.

const MAX_CHARACTERS = 64 * 1024;

export class UserNotes {
  readonly #notes: string[] = [];
  #dropped = 0;

  /** Beyond the limit, the oldest notes are dropped. */
  add(note: string): void {
    this.#notes.push(note);
    while (this.#notes.length > 1 && this.#size > MAX_CHARACTERS) {
      this.#notes.shift();
      this.#dropped += 1;
    }
  }

  /** Empty if there are none. Each is returned once. */
  take(): string {
    const notes = this.#notes.splice(0);
    const lost = this.#dropped === 0 ? [] : [`[${this.#dropped} earlier notes left out]`];
    this.#dropped = 0;
    return [...lost, ...notes].join("\n\n");
  }

  get #size(): number {
    return this.#notes.reduce((sum, { length }) => sum + length, 0);
  }
}
