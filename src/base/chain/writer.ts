// Appends to a chain (verify.ts). A line is in the file before `append` returns, so that it survives the death of the
// process, and is synced to disk soon after. A line that a crash cut short is set aside, and a line says so; so it does if
// lines that were written are missing or changed.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { formatTimestamp } from "../timestamp.ts";
import { findHash, getCurrentPath, getHeadPath, listChainFiles, readHead } from "./files.ts";
import { type ChainHead, GAP, hashLine, NO_LINE, parseLine, splitLines } from "./verify.ts";

export interface ChainOptions {
  dir: string;
  name: string;
  /** A file of this size is full. */
  maxBytes: number;
  now?: () => number;
  /** Called with what is missing or changed; a line says the same. */
  gap?: (why: string) => void;
}

/** How much of a file's end is read to find its last line. */
const TAIL_BYTES = 1024 * 1024;

export class ChainWriter {
  readonly #options: ChainOptions;
  readonly #now: () => number;
  #fd: number | undefined;
  #bytes = 0;
  #n = 0;
  #hash = NO_LINE;
  #isSyncing = false;
  #isDirty = false;
  #isClosed = false;

  /** Opens the chain, and repairs its end. Throws if the files cannot be used. */
  constructor(options: ChainOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#open(readHead(options.dir, options.name));
  }

  /** Adds the line's number and the hash of the line before. Throws if it cannot be written. */
  append(entry: Readonly<Record<string, unknown>>): void {
    if (this.#isClosed) throw new Error("the chain is closed");
    if (!this.#isInPlace()) this.#reopen();
    if (this.#bytes >= this.#options.maxBytes) this.#rotate();
    this.#add(entry);
  }

  #add(entry: Readonly<Record<string, unknown>>): void {
    const line = JSON.stringify({ n: this.#n + 1, at_ms: this.#now(), ...entry, prev: this.#hash });
    const bytes = Buffer.from(`${line}\n`);
    this.#write(bytes);
    this.#bytes += bytes.length;
    this.#n += 1;
    this.#hash = hashLine(line);
    this.#sync();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#fd === undefined) return;
    this.#writeHead();
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** The file may have been deleted, replaced or cut since it was opened. */
  #isInPlace(): boolean {
    if (this.#fd === undefined) return false;
    const own = fstatSync(this.#fd);
    const { dir, name } = this.#options;
    const found = statSync(getCurrentPath(dir, name), { throwIfNoEntry: false });
    return found?.ino === own.ino && found.dev === own.dev && own.size === this.#bytes;
  }

  #reopen(): void {
    const written = { n: this.#n, hash: this.#hash };
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    try {
      [this.#n, this.#hash] = [0, NO_LINE];
      this.#open(written);
    } catch (error) {
      // The next line tries again.
      if (this.#fd === undefined) [this.#n, this.#hash] = [written.n, written.hash];
      throw error;
    }
  }

  /** `head`: the last line that was written, as far as known. */
  #open(head: ChainHead | undefined): void {
    const { dir, name } = this.#options;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const [...older] = listChainFiles(dir, name).filter((file) => file !== getCurrentPath(dir, name));
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    this.#fd = openSync(getCurrentPath(dir, name), flags, 0o600);
    this.#bytes = fstatSync(this.#fd).size;
    const torn = this.#readEnd(this.#fd);
    if (this.#n === 0 && older.length > 0) this.#continue(older.at(-1) ?? "");
    const why = this.#findGap(head);
    if (torn !== undefined) this.#repair(torn);
    if (why !== undefined) this.#recordGap(why, head);
    // From now on a missing head is damage.
    if (head === undefined) this.#writeHead();
  }

  #findGap(head: ChainHead | undefined): string | undefined {
    if (head === undefined) return this.#n === 0 ? undefined : "the record of the last line is missing";
    if (head.n > this.#n) return `lines ${this.#n + 1} to ${head.n} are missing`;
    const { dir, name } = this.#options;
    const found = head.n === this.#n ? this.#hash : findHash(dir, name, head.n);
    return found === undefined || found === head.hash ? undefined : `line ${head.n} was changed`;
  }

  #recordGap(why: string, head: ChainHead | undefined): void {
    const found = { n: this.#n, hash: this.#hash };
    this.#add({ kind: GAP, why, found, ...(head === undefined ? {} : { written: head }) });
    this.#options.gap?.(why);
  }

  /** Finds the last whole line; returns what follows it. */
  #readEnd(fd: number): Buffer | undefined {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    const { lines, rest } = splitLines(bytes);
    const last = lines.at(-1);
    if (last !== undefined) {
      this.#hash = hashLine(last);
      const n = parseLine(last)?.["n"];
      this.#n = Number.isSafeInteger(n) ? (n as number) : 0;
    }
    return rest.length > 0 ? rest : undefined;
  }

  #continue(file: string): void {
    const fd = openSync(file, "r");
    try {
      this.#readEnd(fd);
    } finally {
      closeSync(fd);
    }
  }

  #repair(torn: Buffer): void {
    const { dir, name } = this.#options;
    const aside = join(dir, `${name}.torn-${formatTimestamp(this.#now())}`);
    writeFileSync(aside, torn, { mode: 0o600 });
    ftruncateSync(this.#fd ?? -1, this.#bytes - torn.length);
    this.#bytes -= torn.length;
    this.#add({ kind: "repair", torn_bytes: torn.length, torn_sha256: hashLine(torn), aside });
  }

  /** All of it or nothing: half a line would join the next one. */
  #write(bytes: Buffer): void {
    const fd = this.#fd ?? -1;
    let done = 0;
    try {
      while (done < bytes.length) {
        const count = writeSync(fd, bytes, done);
        if (count === 0) throw new Error("nothing was written; the disk may be full");
        done += count;
      }
    } catch (error) {
      if (done > 0) ftruncateSync(fd, this.#bytes);
      throw error;
    }
  }

  #rotate(): void {
    const { dir, name } = this.#options;
    const fd = this.#fd ?? -1;
    const start = Buffer.alloc(200);
    readSync(fd, start, 0, start.length, 0);
    const first = /^\{"n":(\d+),/.exec(start.toString("latin1"))?.[1] ?? "0";
    renameSync(getCurrentPath(dir, name), join(dir, `${name}-${first}.ndjson`));
    closeSync(fd);
    this.#fd = openSync(
      getCurrentPath(dir, name),
      constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
      0o600,
    );
    this.#bytes = 0;
  }

  /** One sync at a time, for all lines since the last. The head follows it, so that it never names a line that is lost. */
  #sync(): void {
    this.#isDirty = true;
    if (this.#isSyncing || this.#fd === undefined) return;
    this.#isSyncing = true;
    this.#isDirty = false;
    const head = { n: this.#n, hash: this.#hash };
    fdatasync(this.#fd, (error) => {
      this.#isSyncing = false;
      if (this.#fd === undefined) return;
      if (error === null) this.#writeHead(head);
      if (this.#isDirty) this.#sync();
    });
  }

  #writeHead(head = { n: this.#n, hash: this.#hash }): void {
    const { dir, name } = this.#options;
    const path = getHeadPath(dir, name);
    try {
      writeFileSync(`${path}.tmp`, `${JSON.stringify(head)}\n`, { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    } catch {
      // Only the notice of a missing end is lost; the lines themselves are checked without it.
    }
  }
}
