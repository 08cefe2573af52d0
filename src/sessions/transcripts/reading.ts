// Reads one transcript as events, in bounded memory. The next page continues where the last one ended.
import { open } from "node:fs/promises";
import type { TranscriptFile, TranscriptReader } from "../../backends/types.ts";
import { isObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { FrameReader } from "../../base/json-lines.ts";
import type { AgentEvent } from "../../protocol/events.ts";

const LF = 0x0a;
const CHUNK_BYTES = 256 * 1024;
/** Most records are shorter. */
const RECORD_BYTES = 16 * 1024;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface PastEvent {
  seq: number;
  at_ms: number | undefined;
  event: AgentEvent;
  /** Of its record, shared by the record's events. */
  bytes: number;
  /** Where its record starts in the file. Undefined next to bytes that are not UTF-8. */
  at: number | undefined;
}

export class Reading {
  readonly file: TranscriptFile;
  readonly #reader: TranscriptReader;
  readonly #lines: FrameReader;
  readonly #ready: PastEvent[] = [];
  #offset = 0;
  /** The start of the last line that is not whole yet. */
  #linesEnd = 0;
  #count = 0;
  #taken = 0;
  #lastAtMs: number | undefined;

  constructor(file: TranscriptFile, reader: TranscriptReader) {
    this.file = file;
    this.#reader = reader;
    this.#lines = new FrameReader(MAX_LINE_BYTES, {
      frame: (record, size) => this.#add(record, size),
      skipped: () => undefined, // half-written, or garbage
    });
  }

  /** Of the last event taken. */
  get seq(): number {
    return this.#taken;
  }

  /** The next event, or undefined at the end of the file. */
  async next(): Promise<PastEvent | undefined> {
    while (this.#ready.length === 0) if (!(await this.#readChunk())) return undefined;
    const event = this.#ready.shift();
    this.#taken = event?.seq ?? this.#taken;
    return event;
  }

  /** What ends a turn that the file leaves open. The file may grow: only for a reader that is at its end. */
  end(): { at_ms: number | undefined; event: AgentEvent } | undefined {
    const [event] = this.#reader.end();
    return event && { at_ms: this.#lastAtMs, event };
  }

  async #readChunk(): Promise<boolean> {
    const handle = await open(this.file.path);
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, this.#offset);
      if (bytesRead === 0) return false;
      const last = buffer.lastIndexOf(LF, bytesRead - 1);
      if (last !== -1) this.#linesEnd = this.#offset + last + 1;
      this.#offset += bytesRead;
      this.#lines.push(buffer.subarray(0, bytesRead));
      return true;
    } finally {
      await handle.close();
    }
  }

  #add(record: JsonObject, size: number): void {
    this.#lastAtMs = readTime(record) ?? this.#lastAtMs;
    const behind = this.#lines.bytesFromFrame;
    const at = behind === 0 ? undefined : this.#linesEnd - behind;
    const events = this.#reader.read(record);
    for (const event of events) {
      this.#count += 1;
      this.#ready.push({
        seq: this.#count,
        at_ms: this.#lastAtMs,
        event,
        bytes: Math.ceil(size / events.length),
        at,
      });
    }
  }
}

/** The record that starts at `at`, read on its own. Undefined if it is gone. */
export async function readRecord(path: string, at: number): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  const handle = await open(path);
  try {
    for (let bytes = 0; bytes < MAX_LINE_BYTES; ) {
      const chunk = Buffer.allocUnsafe(RECORD_BYTES);
      const { bytesRead } = await handle.read(chunk, 0, RECORD_BYTES, at + bytes);
      const end = chunk.subarray(0, bytesRead).indexOf(LF);
      chunks.push(chunk.subarray(0, end === -1 ? bytesRead : end));
      if (end !== -1 || bytesRead === 0) break;
      bytes += bytesRead;
    }
  } finally {
    await handle.close();
  }
  const record = tryParseJson(Buffer.concat(chunks).toString("utf8"));
  return isObject(record) ? record : undefined;
}

export function readTime({ timestamp }: JsonObject): number | undefined {
  const at_ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at_ms) ? undefined : at_ms;
}
