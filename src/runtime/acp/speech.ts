// Tracks one agent's streamed messages, so that no text is sent twice and separate messages are not merged.
import { SurrogateBuffer } from "./well-formed.ts";

export class Speech {
  readonly #newId: () => string;
  readonly #text = new SurrogateBuffer();
  readonly #thought = new SurrogateBuffer();
  #messageId: string;
  /** Part of the message was sent. */
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

  /** The message starts over; clients must not append it to the old one. */
  restart(): void {
    this.#begin();
    this.#last = undefined;
  }

  /** Returns the text to send; half a surrogate pair waits for the other half. */
  say(text: string): string {
    this.#hasText = true;
    return this.#text.push(text);
  }

  think(text: string): string {
    return this.#thought.push(text);
  }

  /**
   * The message is complete. Returns the text not sent yet, with its id. External agents repeat their last message as the
   * final one.
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
