// The highest seq of each session that a client may have seen in this run, in a separate file: if the log is damaged or
// lost, seq continues after it and is never reused. One slot per session, overwritten in place after each append (1.2 µs),
// so marks survive a kill. An unreadable slot counts as absent. The next start moves them to sqlite/mark-table.ts.
import { crc32 } from "node:zlib";
import type { SessionRow } from "../protocol/session.ts";
import type { FileSystem } from "./disk/file-system.ts";
import { openIfThere, readAll, writeAll } from "./disk/whole.ts";
import { isSessionId } from "./session-id.ts";

/** Fits the longest id. A slot lies within one page, so a kill never leaves half of it. */
const SLOT_BYTES = 256;
/** The part that changes: the seq, and the checksum of seq and id. */
const MARK_BYTES = 12;
const CRC_AT = 8;
const ID_LENGTH_AT = 12;
const ID_AT = 13;

interface Slot {
  offset: number;
  seq: number;
  /** CRC of the id, continued by the checksum. */
  crc: number;
}

export class SeqMarks {
  readonly #fs: FileSystem;
  readonly #fd: number;
  readonly #slots = new Map<string, Slot>();
  readonly #free: number[] = [];
  readonly #mark = Buffer.alloc(MARK_BYTES);
  #end = 0;

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs;
    this.#fd = openIfThere(fs, path, "r+") ?? fs.openSync(path, "wx+", 0o600);
    this.#read();
  }

  /** The highest seq given out for this session; 0 if unknown. */
  get(session_id: string): number {
    return this.#slots.get(session_id)?.seq ?? 0;
  }

  all(): Map<string, number> {
    return new Map([...this.#slots].map(([session_id, { seq }]) => [session_id, seq]));
  }

  /** Throws if the write fails. */
  raise(session_id: string, seq: number): void {
    const slot = this.#slots.get(session_id);
    if (slot === undefined) this.#add(session_id, seq);
    else if (seq > slot.seq) this.#write(slot, seq);
  }

  forget(session_id: string): void {
    const slot = this.#slots.get(session_id);
    if (slot === undefined) return;
    this.#slots.delete(session_id);
    this.#free.push(slot.offset);
    writeAll(this.#fs, this.#fd, Buffer.alloc(MARK_BYTES), slot.offset);
  }

  /** Removes all. */
  clear(): void {
    this.#fs.ftruncateSync(this.#fd, 0);
    this.#slots.clear();
    this.#free.length = 0;
    this.#end = 0;
  }

  close(): void {
    this.#fs.closeSync(this.#fd);
  }

  #write(slot: Slot, seq: number): void {
    fillMark(this.#mark, slot.crc, seq);
    writeAll(this.#fs, this.#fd, this.#mark, slot.offset);
    slot.seq = seq;
  }

  #add(session_id: string, seq: number): void {
    const offset = this.#free.at(-1) ?? this.#end;
    const bytes = Buffer.alloc(SLOT_BYTES);
    const length = bytes.write(session_id, ID_AT);
    bytes[ID_LENGTH_AT] = length;
    const crc = crc32(bytes.subarray(ID_LENGTH_AT, ID_AT + length));
    fillMark(bytes, crc, seq);
    writeAll(this.#fs, this.#fd, bytes, offset);
    if (offset === this.#end) this.#end += SLOT_BYTES;
    else this.#free.pop();
    this.#slots.set(session_id, { offset, seq, crc });
  }

  #read(): void {
    const bytes = Buffer.alloc(this.#fs.fstatSync(this.#fd).size);
    const size = readAll(this.#fs, this.#fd, bytes, 0);
    for (; this.#end < size; this.#end += SLOT_BYTES) {
      const found = parseSlot(bytes.subarray(this.#end, this.#end + SLOT_BYTES));
      if (found === undefined) this.#free.push(this.#end);
      else this.#slots.set(found.session_id, { offset: this.#end, seq: found.seq, crc: found.crc });
    }
  }
}

/** Corrects the row of a session whose log ends with `logEnd` although seqs up to `mark` were given out. */
export function withMark(row: SessionRow, logEnd: number | undefined, mark: number): SessionRow {
  if (mark <= (logEnd ?? 0)) return row;
  return { ...row, last_seq: Math.max(row.last_seq, mark), lost_after: logEnd ?? 0 };
}

function fillMark(bytes: Buffer, idCrc: number, seq: number): void {
  bytes.writeDoubleLE(seq, 0);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT), idCrc), CRC_AT);
}

function parseSlot(bytes: Buffer): { session_id: string; seq: number; crc: number } | undefined {
  if (bytes.length < SLOT_BYTES) return undefined;
  const end = ID_AT + (bytes[ID_LENGTH_AT] ?? 0);
  const session_id = bytes.toString("utf8", ID_AT, end);
  const seq = bytes.readDoubleLE(0);
  const crc = crc32(bytes.subarray(ID_LENGTH_AT, end));
  if (crc32(bytes.subarray(0, CRC_AT), crc) !== bytes.readUInt32LE(CRC_AT)) return undefined;
  return Number.isSafeInteger(seq) && seq > 0 && isSessionId(session_id)
    ? { session_id, seq, crc }
    : undefined;
}
