// Reads the valid frames of a log file. Every line is parsed: after a power cut the damage can be anywhere, because pages
// reach the disk in any order.
import { isUtf8 } from "node:buffer";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { readAll } from "../disk/whole.ts";
import type { LogBatch } from "../types.ts";

export interface ScanStart {
  session_id: string;
  offset: number;
  /** The seq before `offset`; 0 accepts any, because retention removes the front of a log. */
  last_seq: number;
}

const LF = 0x0a;
const CHUNK_BYTES = 1024 * 1024;
/** No valid line is longer: frames have at most 16 MiB. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Frames from `start` up to the first line that is not the next frame, in batches; `onFrame` gets each one parsed. */
export function* scanFrames(
  fs: FileSystem,
  fd: number,
  start: ScanStart,
  onFrame: (frame: JsonObject, seq: number) => void = () => undefined,
): Generator<LogBatch> {
  let { offset, last_seq } = start;
  for (let size = CHUNK_BYTES; size <= MAX_LINE_BYTES; ) {
    const chunk = Buffer.allocUnsafe(size);
    const bytes = chunk.subarray(0, readAll(fs, fd, chunk, offset));
    let [from, line] = [0, 0];
    let first_seq = 0;
    let isEnd = bytes.length < size;
    const takeBatch = (): LogBatch => {
      return { session_id: start.session_id, first_seq, last_seq, bytes: bytes.subarray(from, line) };
    };
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, line)) {
      const frame = parseObject(bytes.subarray(line, at));
      const seq = frame === undefined ? undefined : findNextSeq(frame, start.session_id, last_seq);
      if (frame === undefined || seq === undefined) {
        isEnd = true;
        break;
      }
      if (seq !== last_seq + 1 && line > from) {
        yield takeBatch();
        from = line;
      }
      if (from === line) first_seq = seq;
      last_seq = seq;
      line = at + 1;
      onFrame(frame, seq);
    }
    if (line > from) yield takeBatch();
    if (isEnd) return;
    offset += line;
    // A line that does not fit is read again with more room.
    size = line === 0 ? size * 2 : CHUNK_BYTES;
  }
}

/** The first line of a log file, parsed. */
export function readFirstFrame(fs: FileSystem, fd: number): JsonObject | undefined {
  for (let size = CHUNK_BYTES / 16; size <= MAX_LINE_BYTES; size *= 4) {
    const chunk = Buffer.allocUnsafe(size);
    const bytes = chunk.subarray(0, readAll(fs, fd, chunk, 0));
    const end = bytes.indexOf(LF);
    if (end !== -1) return parseObject(bytes.subarray(0, end));
    if (bytes.length < size) return undefined;
  }
  return undefined;
}

export function parseObject(text: Buffer): JsonObject | undefined {
  if (!isUtf8(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The frame's seq, if it may follow `last_seq`. */
function findNextSeq(frame: JsonObject, session_id: string, last_seq: number): number | undefined {
  const { seq } = frame;
  if (frame["session_id"] !== session_id || typeof seq !== "number") return undefined;
  if (!Number.isSafeInteger(seq) || seq < 1) return undefined;
  const isNext = last_seq === 0 || seq === last_seq + 1;
  return isNext || (seq > last_seq && reportsLoss(frame, last_seq)) ? seq : undefined;
}

/** The first frame after a gap says so itself; any other jump is damage. */
function reportsLoss({ category, data }: JsonObject, after_seq: number): boolean {
  return category === "event_persist_recovered" && isObject(data) && data["after_seq"] === after_seq;
}
