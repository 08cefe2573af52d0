// The writing end of the journal: one write an append, whole or not at all. Knows files and bytes; what may be
// appended and when the store thread takes records over is decided in store.ts.
import * as nodeFs from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../base/coded-error.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { journalPath } from "./names.ts";
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
  /** The number of the first file; the store thread has made sure that none is there. */
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
  /** Where good records end, whatever the disk holds behind it. */
  #length = 0;
  #isNameDurable = false;
  #fault: string | undefined;

  constructor(options: JournalOptions) {
    this.#fs = options.fs ?? nodeFs;
    this.#databasePath = options.databasePath;
    this.#maxFileBytes = options.maxFileBytes ?? MAX_FILE_BYTES;
    this.#n = options.firstNumber - 1;
  }

  /** Why nothing more may be written to this file; `release` it once its records are stored elsewhere. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get number(): number {
    return this.#n;
  }

  /** Undefined when there is no file. `isDone` promises that none of it will be written again. */
  end(isDone = false): JournalEnd | undefined {
    return this.#fd === undefined ? undefined : { n: this.#n, offset: this.#length, isDone };
  }

  /** Writes the record behind the good ones; its size, for `keep` or `drop`. Throws when nothing was written. */
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
      this.#cut(fd);
      throw error;
    }
  }

  keep(size: number): void {
    this.#length += size;
  }

  /** Takes back the record that was just written. */
  drop(): void {
    if (this.#fd !== undefined) this.#cut(this.#fd);
  }

  /**
   * Rejects when the disk did not confirm everything in this file, the record just written too. Then the file may
   * not be used any more: Linux now calls pages clean that never reached the disk, and a later sync would promise
   * too much.
   */
  async sync(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    try {
      if (!this.#isNameDurable) await this.#syncDirectory();
      this.#isNameDurable = true;
      await done((end) => this.#fs.fdatasync(fd, end));
    } catch (error) {
      this.#fault = `the journal could not be synced: ${messageOf(error)}`;
      throw error;
    }
  }

  /** Gives the file up: the next record begins a new one. */
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
    // The old file stays the journal's end until there is a new one: otherwise nobody would ask for its records.
    const fd = this.#fs.openSync(journalPath(this.#databasePath, this.#n + 1), "wx", 0o600);
    this.release();
    this.#n += 1;
    this.#fd = fd;
    return fd;
  }

  #cut(fd: number): void {
    try {
      this.#fs.ftruncateSync(fd, this.#length);
    } catch (error) {
      // Bytes that nobody was promised stay behind the good ones; nobody may write behind them.
      this.#fault = `the journal cannot be cut: ${messageOf(error)}`;
    }
  }

  async #syncDirectory(): Promise<void> {
    const fd = this.#fs.openSync(dirname(this.#databasePath), "r");
    try {
      await done((end) => this.#fs.fsync(fd, end));
    } finally {
      this.#fs.closeSync(fd);
    }
  }
}

function done(begin: (end: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => begin((error) => (error === null ? resolve() : reject(error))));
}
