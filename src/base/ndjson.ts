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
/** Follows from `indexOf` plus 1; no other line starts there. */
const LAST = 0;

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #handlers: LineHandlers;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #isSkipping = false;
  /** The lines that are being handled; undefined otherwise. */
  #text: string | undefined;
  #textBytes = 0;
  /** Where the current line and the next one start in it; LAST: there is no next one. */
  #start = 0;
  #next = LAST;
  /** Bytes before a place in the text, so that they are counted once. */
  #counted = { at: 0, bytes: 0 };

  constructor(maxBytes: number, handlers: LineHandlers) {
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  /** The chunk may be reused by the caller afterwards. */
  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LF);
    if (end === -1) {
      this.#hold(Buffer.from(chunk));
      return;
    }
    const whole = chunk.subarray(0, end);
    // Copied first: handling a line may make the caller reuse the chunk.
    const rest = end + 1 < chunk.length ? Buffer.from(chunk.subarray(end + 1)) : undefined;
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
    if (rest !== undefined) this.#hold(rest);
  }

  /** While a line is handled: bytes from its start to the last newline so far; 0 otherwise. */
  get bytesFromLine(): number {
    return this.#text === undefined ? 0 : this.#textBytes - this.#countTo(this.#text, this.#start);
  }

  /** The same from its end: what is still to be handled. */
  get bytesAfterLine(): number {
    if (this.#text === undefined || this.#next === LAST) return 0;
    return this.#textBytes - this.#countTo(this.#text, this.#next);
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
      this.#emitOneByOne(Buffer.from(whole));
      return;
    }
    const text = whole.toString("utf8");
    const { line } = this.#handlers;
    this.#text = text;
    this.#textBytes = whole.length + 1;
    this.#counted = { at: 0, bytes: 0 };
    let start = 0;
    try {
      for (;;) {
        const at = text.indexOf("\n", start);
        this.#start = start;
        this.#next = at + 1;
        if (at === -1) break;
        line(text.slice(start, at));
        start = at + 1;
      }
      line(start === 0 ? text : text.slice(start));
    } finally {
      this.#text = undefined;
    }
  }

  #countTo(text: string, at: number): number {
    const from = at < this.#counted.at ? { at: 0, bytes: 0 } : this.#counted;
    const bytes = from.bytes + Buffer.byteLength(text.slice(from.at, at));
    this.#counted = { at, bytes };
    return bytes;
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
