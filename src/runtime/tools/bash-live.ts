// Live output of a running command: throttled, and at most a screenful at once. Only a view; the model's output is
// collected elsewhere.
import { StringDecoder } from "node:string_decoder";

const FLUSH_MS = 100;
export const MAX_FLUSH_CHARACTERS = 4096;
export const MAX_LIVE_CHARACTERS = 128 * 1024;

export class LiveOutput {
  readonly #show: (text: string) => void;
  // Decodes across chunks; invalid UTF-8 becomes U+FFFD.
  readonly #decoder = new StringDecoder("utf8");
  #pending = "";
  #skipped = 0;
  #shown = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  push(chunk: Buffer): void {
    if (this.#shown >= MAX_LIVE_CHARACTERS) return;
    this.#pending += this.#decoder.write(chunk);
    const excess = this.#pending.length - MAX_FLUSH_CHARACTERS;
    if (excess > 0) {
      this.#pending = this.#pending.slice(excess);
      this.#skipped += excess;
    }
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  end(): void {
    if (this.#shown < MAX_LIVE_CHARACTERS) this.#pending += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === "") return;
    const note = this.#skipped > 0 ? `[… ${this.#skipped} characters …]\n` : "";
    this.#shown += this.#pending.length;
    const last = this.#shown >= MAX_LIVE_CHARACTERS ? "\n[… more output not shown live …]\n" : "";
    this.#show(`${note}${this.#pending}${last}`);
    this.#pending = "";
    this.#skipped = 0;
  }
}
