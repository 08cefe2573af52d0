// Reads the records of one journal file in order, in chunks.
import type { FileSystem } from "../disk/file-system.ts";
import { readAll } from "../disk/whole.ts";
import { decodeRecord } from "./record.ts";
import type { JournalRecord } from "./types.ts";

const CHUNK_BYTES = 512 * 1024;

export class JournalReader {
  readonly #fs: FileSystem;
  readonly #fd: number;
  #chunk: Buffer;

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs;
    this.#fd = fs.openSync(path, "r");
    this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }

  get fd(): number {
    return this.#fd;
  }

  size(): number {
    return this.#fs.fstatSync(this.#fd).size;
  }

  /**
   * Whole records from `start` on and where they end; none if there is no valid record at `start`. Their bytes are
   * valid until the next call.
   */
  next(start: number, end: number): { records: JournalRecord[]; end: number } {
    for (let size = CHUNK_BYTES; ; size *= 4) {
      const wanted = Math.min(size, end - start);
      if (wanted > this.#chunk.length) this.#chunk = Buffer.allocUnsafeSlow(wanted);
      const count = readAll(this.#fs, this.#fd, this.#chunk.subarray(0, wanted), start);
      const found = decodeAll(this.#chunk.subarray(0, count));
      // No whole record: it is longer than the chunk, or damaged.
      if (found.records.length > 0 || start + count >= end || count < wanted) {
        return { records: found.records, end: start + found.length };
      }
    }
  }

  close(): void {
    this.#fs.closeSync(this.#fd);
  }
}

function decodeAll(bytes: Buffer): { records: JournalRecord[]; length: number } {
  const records: JournalRecord[] = [];
  let length = 0;
  while (length < bytes.length) {
    const found = decodeRecord(bytes.subarray(length));
    if (found === undefined) break;
    records.push(found.record);
    length += found.length;
  }
  return { records, length };
}
