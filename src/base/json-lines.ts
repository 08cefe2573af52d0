// Parses an agent's stdout into JSON frames. An unreadable line is reported, without its content, and skipped: the session
// continues.
import { isObject, type JsonObject, MAX_VALUES } from "./json.ts";
import { hasMoreValues, readOutline } from "./json-outline.ts";
import { LineSplitter } from "./ndjson.ts";

/** JSON.stringify fails at a few thousand levels, and every event is written as JSON later. */
const MAX_LEVELS = 500;
/** Shorter lines cannot be nested that deeply. */
const CHECK_CHARS = 2 * MAX_LEVELS;

/** How much of a skipped line is kept. */
const MAX_KEPT_CHARS = 1024 * 1024;

/** An unreadable object. A turn may be waiting for it, so its outline shows which message it was. */
export interface LineAside {
  /** Its top-level keys; short scalars have their values. */
  outline: ReadonlyMap<string, unknown>;
  /** The line exceeds the limit, so the outline may lack its end. */
  isCut: boolean;
  /** For the notice about a line with too many values: the start of the line. */
  data?: { size: number; text: string; is_cut: boolean };
}

export interface FrameHandlers {
  /** `size` is the length of its line. */
  frame(frame: JsonObject, size: number): void;
  /** `aside`: what is known about the line, if it was an object. */
  skipped(size: number, reason: string, aside?: LineAside): void;
  /** The setting that limits a line, for messages. */
  limitName?: string;
  /** A line that is not JSON. Returns true if it was handled, so that it is not skipped. */
  notJson?(text: string): boolean;
}

export class FrameReader {
  readonly #splitter: LineSplitter;
  readonly #handlers: FrameHandlers;
  #hasEnded = false;

  constructor(maxLineBytes: number, handlers: FrameHandlers) {
    this.#handlers = handlers;
    const limitName = handlers.limitName === undefined ? "" : ` (${handlers.limitName})`;
    this.#splitter = new LineSplitter(maxLineBytes, {
      line: (text) => this.#line(text),
      badLine: (bytes) =>
        handlers.skipped(bytes.length, "it is not UTF-8", this.#aside(bytes.toString("utf8"))),
      oversize: (bytes, head) => {
        const aside = this.#aside(head().toString("utf8"));
        const reason = `it is longer than ${maxLineBytes} bytes${limitName}`;
        handlers.skipped(bytes, reason, aside && { ...aside, isCut: true });
      },
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** While a frame is handled: bytes from the start of its line to the last newline so far; 0 otherwise. */
  get bytesFromFrame(): number {
    return this.#splitter.bytesFromLine;
  }

  /** The same from the end of its line. */
  get bytesAfterFrame(): number {
    return this.#splitter.bytesAfterLine;
  }

  /** The stream has ended: the last line may lack its newline. */
  end(): void {
    this.#hasEnded = true;
    const rest = this.#splitter.rest();
    if (rest.length > 0) this.#splitter.push(Buffer.concat([rest, Buffer.from("\n")]));
  }

  #line(text: string): void {
    if (text.trim() === "") return;
    // Parsing it would block every other session.
    if (hasMoreValues(text, MAX_VALUES)) {
      const kept = text.slice(0, MAX_KEPT_CHARS).replace(/[\uD800-\uDBFF]$/, ""); // no lone surrogate
      this.#handlers.skipped(text.length, `it has more than ${MAX_VALUES} values`, {
        outline: readOutline(text),
        isCut: false,
        data: { size: text.length, text: kept, is_cut: kept.length < text.length },
      });
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      if (this.#handlers.notJson?.(text) === true) return;
      this.#handlers.skipped(text.length, "it is not JSON", this.#aside(text));
      return;
    }
    if (!isObject(value)) this.#handlers.skipped(text.length, "it is not an object");
    else if (text.length > CHECK_CHARS && isTooDeep(value)) {
      this.#handlers.skipped(text.length, "it is nested too deep", this.#aside(text));
    } else this.#handlers.frame(value, text.length);
  }

  /** Ignores the line that an agent was writing when it exited: the exit is reported anyway. */
  #aside(text: string): LineAside | undefined {
    const isObjectText = !this.#hasEnded && /^\s*\{/.test(text);
    return isObjectText ? { outline: readOutline(text), isCut: false } : undefined;
  }
}

function isTooDeep(root: JsonObject): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) return true;
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}
