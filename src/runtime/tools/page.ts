// Reads a range of lines in chunks: memory stays bounded however long the file or its lines are.
import type { OpenFile } from "../workspace/types.ts";
import { trimPartialEnd } from "./output.ts";
import { isBinary } from "./text.ts";

export interface Page {
  /** Without line ends; long lines are truncated, with a mark. */
  lines: string[];
  /** Number of the first line, from 1. */
  from: number;
  /** Lines of the file, as far as counted. */
  total: number;
  isCounted: boolean;
  hasCrlf: boolean;
  /** The first bytes, if the file is not text. */
  binary?: Buffer;
}

export interface PageOrder {
  from: number;
  limit: number;
  maxPageBytes: number;
  signal: AbortSignal;
}

const CHUNK_BYTES = 256 * 1024;
const MAX_LINE_BYTES = 4000;
/** How far beyond the page lines are counted; a longer file is just "longer". */
const MAX_COUNTED_BYTES = 256 * 1024 * 1024;
const LF = 0x0a;

export async function readPage(file: OpenFile, order: PageOrder): Promise<Page> {
  const reader = new PageReader(order);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let position = 0;
  let beyond = 0;
  for (;;) {
    order.signal.throwIfAborted();
    const got = await file.read(chunk, position);
    if (got === 0) break;
    const bytes = chunk.subarray(0, got);
    if (position === 0 && isBinary(bytes))
      return { ...reader.toPage(false), binary: Buffer.from(bytes.subarray(0, 16)) };
    reader.push(bytes);
    position += got;
    if (reader.isFull) beyond += got;
    if (beyond > MAX_COUNTED_BYTES) return reader.toPage(false);
  }
  reader.end();
  return reader.toPage(true);
}

class PageReader {
  readonly #order: PageOrder;
  readonly #lines: string[] = [];
  #pageBytes = 0;
  /** Line ends so far. */
  #ended = 0;
  #line: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;
  #hasCrlf = false;
  isFull = false;

  constructor(order: PageOrder) {
    this.#order = order;
  }

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#add(bytes, start, end);
      this.#endLine();
      start = end + 1;
    }
    this.#add(bytes, start, bytes.length);
  }

  end(): void {
    if (this.#lineBytes > 0) this.#endLine();
  }

  toPage(isCounted: boolean): Page {
    const total = this.#ended;
    return { lines: this.#lines, from: this.#order.from, total, isCounted, hasCrlf: this.#hasCrlf };
  }

  #isWanted(): boolean {
    return !this.isFull && this.#ended + 1 >= this.#order.from;
  }

  #add(bytes: Buffer, start: number, end: number): void {
    this.#lineBytes += end - start;
    const room = MAX_LINE_BYTES - this.#keptBytes;
    if (room <= 0 || end === start || !this.#isWanted()) return;
    // A copy: the chunk is reused.
    const part = Buffer.from(bytes.subarray(start, Math.min(end, start + room)));
    this.#line.push(part);
    this.#keptBytes += part.length;
  }

  #endLine(): void {
    if (this.#isWanted()) this.#take();
    this.#ended += 1;
    this.#line = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }

  #take(): void {
    const text = this.#text();
    this.#pageBytes += text.length;
    if (this.#lines.length > 0 && this.#pageBytes > this.#order.maxPageBytes) {
      this.isFull = true;
      return;
    }
    this.#lines.push(text);
    this.isFull = this.#lines.length >= this.#order.limit;
  }

  #text(): string {
    const bytes = Buffer.concat(this.#line);
    const cut = this.#lineBytes - bytes.length;
    if (cut > 0)
      return `${decodeLine(trimPartialEnd(bytes), this.#ended)}… [line truncated; ${cut} more bytes]`;
    const text = decodeLine(bytes, this.#ended);
    if (!text.endsWith("\r")) return text;
    this.#hasCrlf = true;
    return text.slice(0, -1);
  }
}

function decodeLine(bytes: Buffer, index: number): string {
  const text = bytes.toString("utf8");
  return index === 0 ? text.replace(/^\ufeff/, "") : text;
}
