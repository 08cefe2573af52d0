// `<id>.settled.ndjson`: rows of the ledger in which nothing changes any more, a line each, so that a save does not
// carry all that was ever asked. A row comes here from `<id>.requests.json` and leaves that only when it is on the
// disk: whatever a crash leaves of an append here stands there too. Of two lines for one row the later counts.

import { timestamp } from "../../base/timestamp.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { copyBytes, setAside } from "../disk/torn.ts";
import { openIfThere, readAll, replaceFile, syncDirectory, unlinkIfThere, writeAll } from "../disk/whole.ts";
import type { JsonFileOptions } from "./json-file.ts";
import { isTwin } from "./ledger-file.ts";
import { settledPath } from "./paths.ts";
import { isRequestRow } from "./request-check.ts";
import { parseFrame } from "./scan.ts";

/** Where a row stands in the file. */
export interface SettledEntry {
  request_id: string;
  requested_at_ms: number;
  offset: number;
  /** With its newline. */
  length: number;
}

type Index = Map<string, SettledEntry>;

const LF = 0x0a;
const CHUNK = 1024 * 1024;
/** Sessions whose entries are kept in memory; those of others are read again for each list. */
const MAX_INDEXES = 64;

export class SettledFiles {
  readonly #options: JsonFileOptions;
  /** Least recently used first. */
  readonly #indexes = new Map<string, Index>();

  constructor(options: JsonFileOptions) {
    this.#options = options;
  }

  /** On the disk when this returns. */
  add(session_id: string, rows: RequestRow[]): void {
    const { fs, dir } = this.#options;
    const path = settledPath(dir, session_id);
    const index = this.#indexes.get(session_id);
    this.#indexes.delete(session_id);
    const fd = openIfThere(fs, path, "r+") ?? fs.openSync(path, "wx+", 0o600);
    let offset: number;
    try {
      const { size } = fs.fstatSync(fd);
      // What a crash left of a line must not become the beginning of this one.
      const glue = endsLine(this.#options, fd, size) ? "" : "\n";
      offset = size + glue.length;
      writeAll(fs, fd, Buffer.from(glue + rows.map(lineOf).join("")), size);
      fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    syncDirectory(fs, dir);
    if (index === undefined) return;
    for (const row of rows) {
      const length = Buffer.byteLength(lineOf(row));
      index.set(row.request_id, entryOf(row, offset, length));
      offset += length;
    }
    this.#keep(session_id, index);
  }

  entries(session_id: string): SettledEntry[] {
    return [...this.#index(session_id).values()];
  }

  load(session_id: string, request_id: string): RequestRow | undefined {
    const entry = this.#index(session_id).get(request_id);
    return entry === undefined ? undefined : this.read(session_id, entry);
  }

  read(session_id: string, { offset, length }: SettledEntry): RequestRow {
    const { fs, dir } = this.#options;
    const path = settledPath(dir, session_id);
    const fd = openIfThere(fs, path);
    try {
      const line = Buffer.alloc(length);
      const count = fd === undefined ? 0 : readAll(fs, fd, line, offset);
      const row: unknown = count === length ? parseFrame(line) : undefined;
      if (isRequestRow(row)) return row;
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
    this.forget(session_id);
    throw new Error(`${path} is not as it was; was it edited? Ask again.`);
  }

  has(session_id: string, request_id: string): boolean {
    return this.#index(session_id).has(request_id);
  }

  /** Rows that are older go. */
  prune(session_id: string, beforeMs: number): void {
    const entries = this.entries(session_id);
    const kept = entries.filter((entry) => entry.requested_at_ms >= beforeMs);
    if (kept.length < entries.length) this.#rewrite(session_id, kept);
  }

  /** The file is gone, or is not what it was. */
  forget(session_id: string): void {
    this.#indexes.delete(session_id);
  }

  #index(session_id: string): Index {
    const found = this.#indexes.get(session_id) ?? this.#scan(session_id);
    this.#keep(session_id, found);
    return found;
  }

  #keep(session_id: string, index: Index): void {
    this.#indexes.delete(session_id);
    this.#indexes.set(session_id, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > MAX_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
  }

  #scan(session_id: string): Index {
    const { fs, dir } = this.#options;
    const index: Index = new Map();
    const fd = openIfThere(fs, settledPath(dir, session_id));
    if (fd === undefined) return index;
    try {
      let cut_bytes = 0;
      for (const { line, offset } of readLines(this.#options, fd)) {
        const row: unknown = line.at(-1) === LF ? parseFrame(line) : undefined;
        const isRow = isRequestRow(row);
        if (isRow && row.session_id === session_id) {
          index.set(row.request_id, entryOf(row, offset, line.length));
        } else if (!isRow || !isTwin(row, session_id)) cut_bytes += line.length;
      }
      return cut_bytes === 0 ? index : this.#mend(session_id, { fd, index, cut_bytes });
    } finally {
      fs.closeSync(fd);
    }
  }

  /** Puts a copy aside and leaves the good lines. */
  #mend(session_id: string, damaged: { fd: number; index: Index; cut_bytes: number }): Index {
    const { fs, dir, now, onRecovery } = this.#options;
    const { fd, index, cut_bytes } = damaged;
    try {
      const path = settledPath(dir, session_id);
      const aside = setAside(fs, { fd, path, start: 0 }, timestamp(now()));
      onRecovery({ session_id, kept_seq: 0, cut_bytes, aside });
      return this.#rewrite(session_id, [...index.values()]);
    } catch {
      // A disk that is full or read-only can still be read from; the next look tries again.
      return index;
    }
  }

  /** Leaves only these. */
  #rewrite(session_id: string, kept: SettledEntry[]): Index {
    const { fs, dir } = this.#options;
    const path = settledPath(dir, session_id);
    const index: Index = new Map();
    this.#indexes.delete(session_id);
    const from = kept.length === 0 ? undefined : openIfThere(fs, path);
    if (from === undefined) unlinkIfThere(fs, path);
    else {
      try {
        replaceFile(fs, path, (to) => {
          let position = 0;
          for (const entry of kept.toSorted((a, b) => a.offset - b.offset)) {
            const { offset, length } = entry;
            copyBytes(fs, { from, to, start: offset, end: offset + length, at: position });
            index.set(entry.request_id, { ...entry, offset: position });
            position += length;
          }
        });
      } finally {
        fs.closeSync(from);
      }
    }
    syncDirectory(fs, dir);
    return index;
  }
}

function lineOf(row: RequestRow): string {
  return `${JSON.stringify(row)}\n`;
}

function entryOf({ request_id, requested_at_ms }: RequestRow, offset: number, length: number): SettledEntry {
  return { request_id, requested_at_ms, offset, length };
}

function endsLine({ fs }: JsonFileOptions, fd: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readAll(fs, fd, last, size - 1);
  return last[0] === LF;
}

/** Each with its newline, but for a last one that has none. */
function* readLines({ fs }: JsonFileOptions, fd: number): Generator<{ line: Buffer; offset: number }> {
  let held = Buffer.alloc(0);
  let offset = 0;
  for (let isEnd = false; !isEnd; ) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const count = readAll(fs, fd, chunk, offset + held.length);
    isEnd = count < CHUNK;
    const bytes = Buffer.concat([held, chunk.subarray(0, count)]);
    let start = 0;
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, start)) {
      yield { line: bytes.subarray(start, at + 1), offset: offset + start };
      start = at + 1;
    }
    held = bytes.subarray(start);
    offset += start;
  }
  if (held.length > 0) yield { line: held, offset };
}
