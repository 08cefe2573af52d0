// The stdout of `codex mcp-server` → JSON-RPC messages, one a line. A line that cannot be read is reported, without
// its content, and skipped: the session lives on. The framing of other MCP servers is recognised, not spoken.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { LineSplitter } from "../../../base/ndjson.ts";

export interface MessageHandlers {
  message(message: JsonObject): void;
  skipped(size: number, reason: string): void;
  /** It frames its messages with headers: nothing that follows can be read. */
  foreignFraming(): void;
}

const HEADER = "Content-Length:";

export class MessageReader {
  readonly #splitter: LineSplitter;
  readonly #handlers: MessageHandlers;
  #isForeign = false;

  constructor(maxLineBytes: number, handlers: MessageHandlers) {
    this.#handlers = handlers;
    this.#splitter = new LineSplitter(maxLineBytes, {
      line: (text) => this.#line(text),
      badLine: (bytes) => this.#skip(bytes.length, "it is not UTF-8"),
      oversize: (bytes) => this.#skip(bytes, `it is longer than ${maxLineBytes} bytes (max_line_bytes)`),
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
    if (this.#isForeign || text.trim() === "") return;
    if (text.startsWith(HEADER)) {
      this.#isForeign = true;
      this.#handlers.foreignFraming();
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#skip(text.length, "it is not JSON");
      return;
    }
    if (isObject(value)) this.#handlers.message(value);
    else this.#skip(text.length, "it is not an object");
  }

  #skip(size: number, reason: string): void {
    if (!this.#isForeign) this.#handlers.skipped(size, reason);
  }
}
