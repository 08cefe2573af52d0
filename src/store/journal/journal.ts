// The writing end of the journal: one write per append, whole or not at all. store.ts decides what may be appended and
// when the store thread takes records over.
import * as nodeFs from "node:fs";
import { dirname } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { toJournalPath } from "./names.ts";
import { RecordWriter } from "./record.ts";
import type { JournalEnd, JournalRecord } from "./types.ts";

type Done = (error: Error | null) => void;

/** Syncs without blocking the thread that serves all sessions. */
export interface JournalFileSystem extends FileSystem {
  fdatasync(fd: number, done: Done): void;
  fsync(fd: number, done: Done): void;
}

export interface JournalOptions {
  databasePath: string;
  /** The number of the first file; the store thread has made sure that it does not exist. */
  firstNumber: number;
  fs?: JournalFileSystem;
  maxFileBytes?: number;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;

export class Journal {
  readonly #fs: JournalFileSystem;
  readonly #databasePath: string;
  readonly #maxFileBytes: number;
  readonly #writer = new RecordWriter();
  #n: number;
  #fd: number | undefined;
  /** Where valid records end; bytes after it do not count. */
  #length = 0;
  #isNameDurable = false;
  #fault: string | undefined;

  constructor(options: JournalOptions) {
    this.#fs = options.fs ?? nodeFs;
    this.#databasePath = options.databasePath;
    this.#maxFileBytes = options.maxFileBytes ?? MAX_FILE_BYTES;
    this.#n = options.firstNumber - 1;
  }

  /** Why this file must not be written again; `release` it once its records are stored elsewhere. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get number(): number {
    return this.#n;
  }

  /** Undefined if there is no file. `isDone` promises that it will not be written again. */
  end(isDone = false): JournalEnd | undefined {
    return this.#fd === undefined ? undefined : { n: this.#n, offset: this.#length, isDone };
  }

  /** Appends the record and returns its size, for `keep` or `drop`. Throws if nothing was written. */
  write(record: JournalRecord): number {
    const fd = this.#open();
    const bytes = this.#writer.encode(record);
    try {
      // A full disk may shorten a write without an error.
      const count = this.#fs.writeSync(fd, bytes, 0, bytes.length, this.#length);
      if (count < bytes.length)
        throw new Error(`wrote only ${count} of ${bytes.length} bytes; the disk may be full`);
      return bytes.length;
    } catch (error) {
      this.#truncate(fd);
      throw error;
    }
  }

  keep(size: number): void {
    this.#length += size;
  }

  /** Removes the record that was just written. */
  drop(): void {
    if (this.#fd !== undefined) this.#truncate(this.#fd);
  }

  /**
   * Rejects unless everything in this file is synced. The file must not be used after a failure: Linux then marks pages
   * clean that never reached the disk, and a later sync would promise too much.
   */
  async sync(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    try {
      if (!this.#isNameDurable) await this.#syncDirectory();
      this.#isNameDurable = true;
      await toPromise((end) => this.#fs.fdatasync(fd, end));
    } catch (error) {
      this.#fault = `cannot sync the journal: ${toMessage(error)}`;
      throw error;
    }
  }

  /** Closes the file; the next record starts a new one. */
  release(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    this.#fault = undefined;
    this.#length = 0;
    this.#isNameDurable = false;
    this.#fs.closeSync(fd);
  }

  #open(): number {
    if (this.#fd !== undefined && this.#length <= this.#maxFileBytes) return this.#fd;
    // The old file stays the journal's end until there is a new one, or its records would never be moved.
    const fd = this.#fs.openSync(toJournalPath(this.#databasePath, this.#n + 1), "wx", 0o600);
    this.release();
    this.#n += 1;
    this.#fd = fd;
    return fd;
  }

  #truncate(fd: number): void {
    try {
      this.#fs.ftruncateSync(fd, this.#length);
    } catch (error) {
      // Unacknowledged bytes remain after the valid records, so nothing may be appended.
      this.#fault = `cannot truncate the journal: ${toMessage(error)}`;
    }
  }

  async #syncDirectory(): Promise<void> {
    const fd = this.#fs.openSync(dirname(this.#databasePath), "r");
    try {
      await toPromise((end) => this.#fs.fsync(fd, end));
    } finally {
      this.#fs.closeSync(fd);
    }
  }
}

function toPromise(begin: (end: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => begin((error) => (error === null ? resolve() : reject(error))));
}
