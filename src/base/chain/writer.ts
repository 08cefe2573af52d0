// Appends to a chain (verify.ts). A line is in the file before `append` returns, so that it survives the death of the
// process, and is synced to disk soon after. A line that a crash cut short is set aside, and a line says so.
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
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { formatTimestamp } from "../timestamp.ts";
import { getCurrentPath, getHeadPath, listChainFiles } from "./files.ts";
import { hashLine, NO_LINE, parseLine, splitLines } from "./verify.ts";

export interface ChainOptions {
  dir: string;
  name: string;
  /** A file of this size is full. */
  maxBytes: number;
  now?: () => number;
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

  /** Opens the chain, and repairs its end. Throws if the files cannot be used. */
  constructor(options: ChainOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
    this.#open();
  }

  /** Adds the line's number and the hash of the line before. Throws if it cannot be written. */
  append(entry: Readonly<Record<string, unknown>>): void {
    if (this.#fd === undefined) throw new Error("the chain is closed");
    if (this.#bytes >= this.#options.maxBytes) this.#rotate();
    const line = JSON.stringify({ n: this.#n + 1, at_ms: this.#now(), ...entry, prev: this.#hash });
    const bytes = Buffer.from(`${line}\n`);
    this.#write(bytes);
    this.#bytes += bytes.length;
    this.#n += 1;
    this.#hash = hashLine(line);
    this.#sync();
  }

  close(): void {
    if (this.#fd === undefined) return;
    this.#writeHead();
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): void {
    const { dir, name } = this.#options;
    const [...older] = listChainFiles(dir, name).filter((file) => file !== getCurrentPath(dir, name));
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    this.#fd = openSync(getCurrentPath(dir, name), flags, 0o600);
    this.#bytes = fstatSync(this.#fd).size;
    const torn = this.#readEnd(this.#fd);
    if (this.#n === 0 && older.length > 0) this.#continue(older.at(-1) ?? "");
    if (torn !== undefined) this.#repair(torn);
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
    this.append({ kind: "repair", torn_bytes: torn.length, torn_sha256: hashLine(torn), aside });
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
