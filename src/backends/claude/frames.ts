// claude's stdout → frames. A line that cannot be read is logged, without its content, and skipped: the
// session lives on.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { LineSplitter } from "../../base/ndjson.ts";

/** JSON.stringify gives up at a few thousand levels, and every event is written as JSON later. */
const MAX_LEVELS = 500;
/** Shorter lines cannot be nested that deep. */
const CHECK_CHARS = 2 * MAX_LEVELS;

export class FrameReader {
  readonly #splitter: LineSplitter;
  readonly #log: Log;
  readonly #frame: (frame: JsonObject) => void;

  constructor(maxLineBytes: number, log: Log, frame: (frame: JsonObject) => void) {
    this.#log = log;
    this.#frame = frame;
    this.#splitter = new LineSplitter(maxLineBytes, {
      line: (text) => this.#line(text),
      badLine: (bytes) => this.#skip("backend.non_json_stdout", bytes.length, "not UTF-8"),
      oversize: (bytes) => this.#skip("backend.stdout_overrun", bytes, `over ${maxLineBytes} bytes`),
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
      this.#skip("backend.non_json_stdout", text.length, "not JSON");
      return;
    }
    if (!isObject(value)) this.#skip("backend.non_json_stdout", text.length, "not an object");
    else if (text.length > CHECK_CHARS && isTooDeep(value)) {
      this.#skip("backend.stdout_overrun", text.length, "nested too deep");
    } else this.#frame(value);
  }

  #skip(event: string, size: number, reason: string): void {
    this.#log.warn(event, { backend: "claude", size, reason });
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
