// The stdout of `claude` → its messages. A line that cannot be read is told, without its content, and skipped.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { LineSplitter } from "../../../base/ndjson.ts";

export interface CliLineHandlers {
  message(message: JsonObject): void;
  skipped(reason: string): void;
}

/** A tool's result with an image is a few MB; nothing that a turn needs is longer. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Everything is written as JSON again, which gives up at a few thousand. */
const MAX_LEVELS = 500;

export class CliLines {
  readonly #splitter: LineSplitter;
  readonly #handlers: CliLineHandlers;

  constructor(handlers: CliLineHandlers, maxLineBytes = MAX_LINE_BYTES) {
    this.#handlers = handlers;
    this.#splitter = new LineSplitter(maxLineBytes, {
      line: (text) => this.#line(text),
      badLine: (bytes) => handlers.skipped(`a line of ${bytes.length} bytes that is not UTF-8`),
      oversize: () => handlers.skipped(`a line of more than ${maxLineBytes} bytes`),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** The stream has ended: the last line may lack its newline. */
  end(): void {
    const rest = this.#splitter.rest();
    if (rest.length > 0) this.#splitter.push(Buffer.concat([rest, Buffer.from("\n")]));
  }

  #line(text: string): void {
    if (text.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#handlers.skipped(`a line of ${text.length} characters that is not JSON`);
      return;
    }
    if (!isObject(value) || typeof value["type"] !== "string") {
      this.#handlers.skipped(`a line of ${text.length} characters that is no message`);
    } else if (text.length > 2 * MAX_LEVELS && isTooDeep(value)) {
      this.#handlers.skipped(`a line of ${text.length} characters that is nested too deep`);
    } else this.#handlers.message(value);
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
