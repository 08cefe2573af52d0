// The journal's record format: 16 bytes (mark, CRC-32 of the rest, total length, length of the head), the head as JSON,
// and the frames unchanged. A truncated record or one with holes fails its CRC.
import { crc32 } from "node:zlib";
import type { RunMark } from "../../base/runs/mark.ts";
import type { LogBatch } from "../types.ts";
import type { Content } from "../units.ts";
import type { JournalRecord } from "./types.ts";

/** "BJ1\n" */
const MARK = 0x0a314a42;
const PREFIX_BYTES = 16;
const CRC_AT = 4;
const CHECKED_FROM = 8;
const SCRATCH_BYTES = 256 * 1024;
/** The most UTF-8 bytes that a UTF-16 unit can take. */
const MAX_UTF8_BYTES = 3;

interface Head extends Omit<Content, "batches"> {
  at_ms: number;
  batches: (Omit<LogBatch, "bytes"> & { size: number })[];
}

export class RecordWriter {
  /** Avoids a buffer per append. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  /** The record; valid until the next call. */
  encode(content: JournalRecord): Buffer {
    const head = formatHead(content);
    let room = PREFIX_BYTES + head.length * MAX_UTF8_BYTES;
    for (const { bytes } of content.batches) room += bytes.length;
    const record = room <= SCRATCH_BYTES ? this.#scratch : Buffer.allocUnsafe(room);
    const headBytes = record.write(head, PREFIX_BYTES);
    let end = PREFIX_BYTES + headBytes;
    for (const { bytes } of content.batches) {
      record.set(bytes, end);
      end += bytes.length;
    }
    record.writeUInt32LE(MARK, 0);
    record.writeUInt32LE(end, CHECKED_FROM);
    record.writeUInt32LE(headBytes, CHECKED_FROM + 4);
    record.writeUInt32LE(crc32(record.subarray(CHECKED_FROM, end)), CRC_AT);
    return record.subarray(0, end);
  }
}

/** The record at the start of `bytes` and its length; undefined if it is incomplete or damaged. */
export function decodeRecord(bytes: Buffer): { record: JournalRecord; length: number } | undefined {
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32LE(0) !== MARK) return undefined;
  const length = bytes.readUInt32LE(CHECKED_FROM);
  if (length > bytes.length || length < PREFIX_BYTES) return undefined;
  if (crc32(bytes.subarray(CHECKED_FROM, length)) !== bytes.readUInt32LE(CRC_AT)) return undefined;
  const headEnd = PREFIX_BYTES + bytes.readUInt32LE(CHECKED_FROM + 4);
  const head = JSON.parse(bytes.toString("utf8", PREFIX_BYTES, headEnd)) as Head;
  const { at_ms, rows, batches, requests } = head;
  let end = headEnd;
  const record: JournalRecord = { at_ms, rows, batches: [] };
  if (requests !== undefined) record.requests = requests;
  for (const { size, ...batch } of batches) {
    record.batches.push({ ...batch, bytes: bytes.subarray(end, end + size) });
    end += size;
  }
  return { record, length };
}

/** Built by hand: the usual order, one batch and no row, is short. */
function formatHead({ at_ms, batches, rows, requests }: JournalRecord): string {
  let text = "";
  for (const { session_id, first_seq, last_seq, bytes, run } of batches) {
    const comma = text === "" ? "" : ",";
    text += `${comma}{"session_id":${JSON.stringify(session_id)},"first_seq":${first_seq},"last_seq":${last_seq},"size":${bytes.length}${run === undefined ? "" : formatMark(run)}}`;
  }
  const rowText = rows.length === 0 ? "[]" : JSON.stringify(rows);
  // Absent without requests, as in journals from before the ledger.
  const rest =
    requests === undefined || requests.length === 0 ? "" : `,"requests":${JSON.stringify(requests)}`;
  return `{"at_ms":${at_ms},"batches":[${text}],"rows":${rowText}${rest}}`;
}

/** Absent in journals from before marks. */
function formatMark({ run_id, out, err, n }: RunMark): string {
  return `,"run":{"run_id":${JSON.stringify(run_id)},"out":${out},"err":${err},"n":${n}}`;
}
