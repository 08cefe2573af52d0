// What one agent says in one turn, put together so that nothing is told twice and no two messages are glued together.
import { Halves } from "./well-formed.ts";

export class Speech {
  readonly #newId: () => string;
  readonly #text = new Halves();
  readonly #thought = new Halves();
  #messageId: string;
  /** Some of the message was told already. */
  #hasText = false;
  #last: string | undefined;

  constructor(newId: () => string) {
    this.#newId = newId;
    this.#messageId = newId();
  }

  get messageId(): string {
    return this.#messageId;
  }

  get thoughtId(): string {
    return `${this.#messageId}-thought`;
  }

  /** What comes now begins from the start again: a client must not glue it to what it has. */
  restart(): void {
    this.#begin();
    this.#last = undefined;
  }

  /** What of it can be told; a character that is cut in two waits for its other half. */
  say(text: string): string {
    this.#hasText = true;
    return this.#text.push(text);
  }

  think(text: string): string {
    return this.#thought.push(text);
  }

  /**
   * The message is complete. Gives what of it was not told yet, with its id. An agent with a loop of its own tells its
   * last message once more as the final one.
   */
  end(text: string, isFinal: boolean): { text: string; messageId: string } {
    const messageId = this.#messageId;
    const isKnown = this.#hasText || (isFinal && text === this.#last);
    this.#begin();
    this.#last = text;
    return { text: isKnown ? "" : text, messageId };
  }

  #begin(): void {
    this.#messageId = this.#newId();
    this.#hasText = false;
    this.#text.clear();
    this.#thought.clear();
  }
}
