// Reads one transcript as events, in bounded memory. The next page continues where the last one ended.
import { open } from "node:fs/promises";
import type { TranscriptFile, TranscriptReader } from "../../backends/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { FrameReader } from "../../base/json-lines.ts";
import type { AgentEvent } from "../../protocol/events.ts";

const CHUNK_BYTES = 256 * 1024;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface PastEvent {
  seq: number;
  at_ms: number | undefined;
  event: AgentEvent;
  /** Of its record, shared by the record's events. */
  bytes: number;
}

export class Reading {
  readonly file: TranscriptFile;
  readonly #reader: TranscriptReader;
  readonly #lines: FrameReader;
  readonly #ready: PastEvent[] = [];
  #offset = 0;
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
      this.#offset += bytesRead;
      this.#lines.push(buffer.subarray(0, bytesRead));
      return true;
    } finally {
      await handle.close();
    }
  }

  #add(record: JsonObject, size: number): void {
    const { timestamp } = record;
    const at_ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
    if (!Number.isNaN(at_ms)) this.#lastAtMs = at_ms;
    const events = this.#reader.read(record);
    for (const event of events) {
      this.#count += 1;
      this.#ready.push({
        seq: this.#count,
        at_ms: this.#lastAtMs,
        event,
        bytes: Math.ceil(size / events.length),
      });
    }
  }
}
