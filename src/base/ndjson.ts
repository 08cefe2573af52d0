// Splits a byte stream into lines. Splits on byte 0x0A only: readline also splits on U+2028, which is legal in a JSON string.
// Decodes all whole lines of a chunk at once, which is cheaper than line by line. Does not parse.
import { isUtf8 } from "node:buffer";

export interface LineHandlers {
  line(text: string): void;
  /** A line that is not UTF-8; the stream continues after it. */
  badLine?(bytes: Buffer): void;
  /**
   * A line exceeds the limit: called once, as soon as that is known. The line is skipped and the stream continues. `head`
   * returns the part read so far.
   */
  oversize?(bytes: number, head: () => Buffer): void;
}

const LF = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #handlers: LineHandlers;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #isSkipping = false;

  constructor(maxBytes: number, handlers: LineHandlers) {
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LF);
    if (end === -1) {
      this.#hold(chunk);
      return;
    }
    const whole = chunk.subarray(0, end);
    if (this.#isSkipping) {
      this.#isSkipping = false;
      const first = chunk.indexOf(LF);
      if (first !== end) this.#emit(chunk.subarray(first + 1, end));
    } else if (this.#tailBytes > 0) {
      this.#tail.push(whole);
      const joined = Buffer.concat(this.#tail);
      this.#dropTail();
      this.#emit(joined);
    } else {
      this.#emit(whole);
    }
    if (end + 1 < chunk.length) this.#hold(chunk.subarray(end + 1));
  }

  /** Returns the bytes after the last newline, once the stream has ended. */
  rest(): Buffer {
    const rest = Buffer.concat(this.#tail);
    this.#dropTail();
    return rest;
  }

  #hold(part: Buffer): void {
    if (this.#isSkipping) return;
    this.#tail.push(part);
    this.#tailBytes += part.length;
    if (this.#tailBytes <= this.#maxBytes) return;
    this.#isSkipping = true;
    const head = this.#tail;
    this.#handlers.oversize?.(this.#tailBytes, () => Buffer.concat(head));
    this.#dropTail();
  }

  #dropTail(): void {
    this.#tail = [];
    this.#tailBytes = 0;
  }

  /** `whole` contains one or more complete lines without the last newline. */
  #emit(whole: Buffer): void {
    if (whole.length > this.#maxBytes || !isUtf8(whole)) {
      this.#emitOneByOne(whole);
      return;
    }
    const text = whole.toString("utf8");
    const { line } = this.#handlers;
    let start = 0;
    for (;;) {
      const at = text.indexOf("\n", start);
      if (at === -1) break;
      line(text.slice(start, at));
      start = at + 1;
    }
    line(start === 0 ? text : text.slice(start));
  }

  #emitOneByOne(whole: Buffer): void {
    let start = 0;
    while (start <= whole.length) {
      const at = whole.indexOf(LF, start);
      const bytes = whole.subarray(start, at === -1 ? whole.length : at);
      if (bytes.length > this.#maxBytes) this.#handlers.oversize?.(bytes.length, () => bytes);
      else if (!isUtf8(bytes)) this.#handlers.badLine?.(bytes);
      else this.#handlers.line(bytes.toString("utf8"));
      if (at === -1) return;
      start = at + 1;
    }
  }
}
