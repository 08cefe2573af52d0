// The reading end of the journal: moves records into the database, in order and exactly once, because the position up to
// which they are stored is saved in the same transaction. Runs in the store thread.
import { dirname } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { formatTimestamp } from "../../base/timestamp.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import { noteDamage } from "../sqlite/damage.ts";
import type { DriverOptions } from "../types.ts";
import { listJournalNumbers, toJournalPath } from "./names.ts";
import { JournalReader } from "./reader.ts";
import type { FoldTarget, JournalEnd, JournalPlace } from "./types.ts";

export interface FolderOptions extends DriverOptions {
  target: FoldTarget;
  databasePath: string;
  fs: FileSystem;
}

export class Folder {
  readonly #options: FolderOptions;
  #at: JournalPlace;
  #reader: JournalReader | undefined;
  /** The database rejected records of this file, so the file is kept. */
  #isRefused = false;
  #isFailing = false;
  #foldedBytes = 0;

  constructor(options: FolderOptions) {
    this.#options = options;
    this.#at = options.target.place();
  }

  /** The number of the next file to write. */
  get nextNumber(): number {
    return this.#at.n;
  }

  /** Bytes that were stored since the start. */
  get foldedBytes(): number {
    return this.#foldedBytes;
  }

  /** Stores the journal of a daemon that died. Afterwards there is no journal file. */
  recover(): void {
    const { fs, databasePath } = this.#options;
    const found = listJournalNumbers(databasePath, fs.readdirSync(dirname(databasePath)));
    const old = found.filter((n) => n < this.#at.n);
    for (const n of found.slice(old.length)) {
      if (n > this.#at.n) this.#at = { n, offset: 0 };
      this.#recoverFile();
    }
    // A power cut can remove a file whose records are stored; its number must not be reused.
    if (this.#at.offset > 0) this.#at = { n: this.#at.n + 1, offset: 0 };
    else if (old.length === 0) return;
    // The old files are stored, but a killed daemon may not have synced that.
    this.sync();
    for (const n of old) this.#remove(n);
  }

  /** Stores everything up to `end`, or returns why it cannot. What was stored before stays stored. */
  fold(end: JournalEnd): string | undefined {
    try {
      while (this.#at.n < end.n) {
        this.#moveWhole(this.#open().size());
        this.#finish();
      }
      if (this.#at.n === end.n) {
        if (this.#at.offset < end.offset) this.#moveWhole(end.offset);
        if (end.isDone) this.#finish();
      }
      this.#isFailing = false;
      return undefined;
    } catch (error) {
      this.noteDamage(error);
      const message = `cannot move the journal into the database: ${toMessage(error)}`;
      // Reported once: it is retried several times a second.
      if (!this.#isFailing) this.#options.onRecovery({ kept_seq: 0, cut_bytes: 0, message });
      this.#isFailing = true;
      return message;
    }
  }

  /** A call to the database failed. */
  noteDamage(error: unknown): void {
    noteDamage(this.#options.databasePath, error, this.#options);
  }

  /** Syncs what the database has so far. */
  sync(): void {
    this.#options.target.fold([], this.#at, true);
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  #recoverFile(): void {
    const { fs, databasePath, now, onRecovery } = this.#options;
    const reader = this.#open();
    const size = reader.size();
    this.#move(size);
    const cut_bytes = size - this.#at.offset;
    if (cut_bytes > 0) {
      const path = toJournalPath(databasePath, this.#at.n);
      const torn = { fd: reader.fd, path, start: this.#at.offset };
      const aside = setAside(fs, torn, `torn-${formatTimestamp(now())}`);
      onRecovery({ kept_seq: 0, cut_bytes, aside, message: "the end of the journal was damaged" });
    }
    this.#finish();
  }

  #moveWhole(end: number): void {
    this.#move(end);
    if (this.#at.offset >= end) return;
    throw new Error(
      `${toJournalPath(this.#options.databasePath, this.#at.n)} is damaged at ${this.#at.offset}`,
    );
  }

  /** Stores the valid records before `end`; stops at the first invalid one. */
  #move(end: number): void {
    const { target, onRecovery } = this.#options;
    const reader = this.#open();
    while (this.#at.offset < end) {
      const { records, end: offset } = reader.next(this.#at.offset, end);
      if (records.length === 0) return;
      const place = { n: this.#at.n, offset };
      const refused = target.fold(records, place, false);
      this.#foldedBytes += offset - this.#at.offset;
      this.#at = place;
      if (refused.length > 0) this.#isRefused = true;
      for (const one of refused) onRecovery(one);
    }
  }

  /** Moves on to the next file. The old one is removed only after its records are synced. */
  #finish(): void {
    const { n } = this.#at;
    const next = { n: n + 1, offset: 0 };
    this.#options.target.fold([], next, true);
    this.#at = next;
    this.close();
    if (this.#isRefused) this.#keep(n);
    else this.#remove(n);
    this.#isRefused = false;
  }

  #open(): JournalReader {
    const { fs, databasePath } = this.#options;
    this.#reader ??= new JournalReader(fs, toJournalPath(databasePath, this.#at.n));
    return this.#reader;
  }

  #remove(n: number): void {
    const { fs, databasePath } = this.#options;
    try {
      fs.unlinkSync(toJournalPath(databasePath, n));
    } catch {
      // Already stored; the next start removes the file.
    }
  }

  #keep(n: number): void {
    const { fs, databasePath, now, onRecovery } = this.#options;
    const path = toJournalPath(databasePath, n);
    const aside = `${path}.refused-${formatTimestamp(now())}`;
    try {
      fs.renameSync(path, aside);
      onRecovery({
        kept_seq: 0,
        cut_bytes: 0,
        aside,
        message: "the database rejected records of the journal",
      });
    } catch {
      // Each rejected record was reported; the next start removes the file.
    }
  }
}
