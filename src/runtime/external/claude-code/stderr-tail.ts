// The end of what Claude Code said on its stderr: the words for a failure that has no others.
import { stripVTControlCharacters } from "node:util";

const MAX_LINES = 20;
const MAX_CHARACTERS = 2000;

export class StderrTail {
  readonly #lines: string[] = [];

  take(raw: string): void {
    const line = stripVTControlCharacters(raw).trim();
    if (line === "") return;
    this.#lines.push(line);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  /** The message with it, where there is any. */
  after(message: string): string {
    const tail = this.#lines.join(" | ").slice(-MAX_CHARACTERS);
    return tail === "" ? message : `${message}; the end of its stderr: ${tail}`;
  }
}
