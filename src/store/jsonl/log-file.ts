// One session's `<id>.jsonl`: appends whole batches or nothing, reads from any seq, loses its front to retention.
// The file is scanned once, when it is first touched; from then on `#length` is where good frames end, whatever
// the disk holds behind it.
import { errnoOf } from "../../base/coded-error.ts";
import { timestamp } from "../../base/timestamp.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { copyBytes, setAside } from "../disk/torn.ts";
import { readAll, replaceFile, syncDirectory, writeAll } from "../disk/whole.ts";
import { countLines, findBatchFault, sequenceFault, wholeLines } from "../frames.ts";
import type { DriverOptions, LogBatch } from "../types.ts";
import { type Jump, LineIndex, type Mark } from "./line-index.ts";
import { scanLog } from "./scan.ts";
import { findFrame } from "./seek.ts";

export interface LogFileOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
  path: string;
  session_id: string;
  /** Where seq goes on when there is no frame. */
  rowSeq(): number;
  /** The highest seq that was given out, even if the file has lost it. */
  markSeq(): number;
}

interface Frames {
  first_seq: number;
  last_seq: number;
}

export class LogFile {
  readonly #options: LogFileOptions;
  readonly #fs: FileSystem;
  #fd: number | undefined;
  #frames: Frames | undefined;
  #length = 0;
  #index = new LineIndex();
  #jumps: Jump[] = [];
  /** Bytes behind `#length`: `torn` ones were found there and are kept aside, `refused` ones are ours to drop. */
  #tail: "clean" | "torn" | "refused" = "clean";
  /** Also of a file that was here before: a process that was killed may have left its name unsynced. */
  #isNameDurable = false;
  #before: { frames: Frames | undefined; length: number } = { frames: undefined, length: 0 };

  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#fs = options.fs;
    const fd = this.#open();
    if (fd === undefined) return;
    const scan = scanLog(this.#fs, fd, options.session_id);
    this.#frames = scan.frames;
    this.#length = scan.length;
    this.#index = scan.index;
    this.#jumps = scan.jumps;
    if (this.#fs.fstatSync(fd).size === this.#length) return;
    this.#tail = "torn";
    try {
      this.#mend(fd);
    } catch {
      // A disk that is full or read-only can still be read from; the next append tries again and reports.
    }
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  /** Holds refused bytes that a new scan would take for good ones. */
  get isBroken(): boolean {
    return this.#tail === "refused";
  }

  get frames(): Frames | undefined {
    return this.#frames;
  }

  get length(): number {
    return this.#length;
  }

  /** Throws when this is not the batch that comes next. */
  check(batch: LogBatch): void {
    const fault = findBatchFault(batch) ?? sequenceFault(batch, this.lastSeq());
    if (fault !== undefined) throw new Error(fault);
  }

  /** Stores all of the batch, or throws and leaves nothing of it. */
  append(batch: LogBatch, sync: boolean): void {
    this.check(batch);
    const fd = this.#open() ?? this.#create();
    try {
      this.#mend(fd);
      this.#before = { frames: this.#frames, length: this.#length };
      writeAll(this.#fs, fd, batch.bytes, this.#length);
      if (sync) this.#sync(fd);
    } catch (error) {
      this.#dropTail();
      throw error;
    }
    const after_seq = this.#frames?.last_seq ?? batch.first_seq - 1;
    const isJump = batch.first_seq > after_seq + 1;
    if (isJump) this.#jumps.push({ seq: batch.first_seq, offset: this.#length, after_seq });
    this.#index.add(batch.first_seq, this.#length, isJump);
    this.#frames = { first_seq: this.#frames?.first_seq ?? batch.first_seq, last_seq: batch.last_seq };
    this.#length += batch.bytes.length;
  }

  /** Takes the last append back: the row that belongs to it could not be stored. */
  revert(): void {
    this.#frames = this.#before.frames;
    this.#length = this.#before.length;
    this.#index.cut(this.#length);
    this.#jumps = this.#jumps.filter(({ offset }) => offset < this.#length);
    this.#dropTail();
  }

  lastSeq(): number {
    return Math.max(this.#frames?.last_seq ?? this.#options.rowSeq(), this.#options.markSeq());
  }

  read(after_seq: number, max_bytes: number): LogBatch | undefined {
    const { session_id } = this.#options;
    if (this.#frames === undefined || after_seq >= this.#frames.last_seq) return undefined;
    const { seq: first_seq, offset } = this.frameOf(Math.max(after_seq + 1, this.#frames.first_seq));
    // What stands behind a hole is not handed out as if there were none.
    const end = this.#jumps.find((jump) => jump.offset > offset)?.offset ?? this.#length;
    const fd = this.#need();
    for (let size = Math.max(max_bytes, 1); ; size *= 2) {
      const bytes = new Uint8Array(Math.min(size, end - offset));
      if (readAll(this.#fs, fd, bytes, offset) < bytes.length) throw this.#shortened();
      const length = wholeLines(bytes, bytes.length);
      // The first frame is longer than what was asked for; it is handed out all the same.
      if (length === 0) continue;
      const whole = length === bytes.length ? bytes : bytes.slice(0, length);
      return { session_id, first_seq, last_seq: first_seq + countLines(whole) - 1, bytes: whole };
    }
  }

  /** The first frame that begins at `offset` or behind it. */
  frameFrom(offset: number): Mark {
    const found = this.#find((mark) => mark.offset >= offset, this.#index.byOffset(offset));
    return this.#jumps.find((jump) => jump.offset === found.offset) ?? found;
  }

  /** The frame with this seq; for one that was lost, the next one that is there. */
  frameOf(seq: number): Mark {
    const jump = this.#jumps.find(({ after_seq, seq: next }) => seq > after_seq && seq < next);
    if (jump !== undefined) return jump;
    return this.#find((mark) => mark.seq === seq, this.#index.bySeq(seq));
  }

  modifiedAtMs(): number {
    return this.#fs.fstatSync(this.#need()).mtimeMs;
  }

  /** Rewrites the file without the frames in front of `first`. */
  cutFront(first: Mark): void {
    const from = this.#need();
    const mtime = new Date(this.modifiedAtMs());
    replaceFile(this.#fs, this.#options.path, (to) => {
      copyBytes(this.#fs, { from, to, start: first.offset, end: this.#length });
      // The age of a log is the time of its last append, not of this.
      this.#fs.futimesSync(to, mtime, mtime);
    });
    this.release();
    if (this.#frames !== undefined) this.#frames = { ...this.#frames, first_seq: first.seq };
    this.#length -= first.offset;
    this.#index.rebase(first);
    this.#jumps = this.#jumps
      .filter(({ offset }) => offset > first.offset)
      .map((jump) => ({ ...jump, offset: jump.offset - first.offset }));
    this.#tail = "clean";
    this.#isNameDurable = false;
  }

  sync(): void {
    if (this.#fd !== undefined) this.#sync(this.#fd);
  }

  /** Puts all of it on the disk, also what was written through a handle that was given back since. */
  flush(): void {
    const fd = this.#open();
    if (fd !== undefined) this.#sync(fd);
  }

  /** Gives the file handle back; the next use opens it again. */
  release(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    this.#fs.closeSync(fd);
  }

  #find(isIt: (mark: Mark) => boolean, from?: Mark): Mark {
    const start = from ?? { seq: this.#frames?.first_seq ?? 1, offset: 0 };
    return findFrame(this.#fs, { fd: this.#need(), from: start, end: this.#length }, isIt);
  }

  #need(): number {
    const fd = this.#open();
    if (fd === undefined) throw this.#shortened();
    return fd;
  }

  #open(): number | undefined {
    if (this.#fd !== undefined) return this.#fd;
    const fd = openExisting(this.#fs, this.#options.path);
    if (fd === undefined && this.#length === 0) return undefined;
    if (fd === undefined) throw this.#shortened();
    this.#fd = fd;
    if (this.#fs.fstatSync(fd).size >= this.#length) return fd;
    this.release();
    throw this.#shortened();
  }

  #create(): number {
    this.#fd = this.#fs.openSync(this.#options.path, "wx+", 0o600);
    return this.#fd;
  }

  #sync(fd: number): void {
    this.#fs.fdatasyncSync(fd);
    if (this.#isNameDurable) return;
    syncDirectory(this.#fs, this.#options.dir);
    this.#isNameDurable = true;
  }

  #mend(fd: number): void {
    if (this.#tail === "clean") return;
    if (this.#tail === "torn") {
      const { path, session_id, now, onRecovery } = this.#options;
      const cut_bytes = this.#fs.fstatSync(fd).size - this.#length;
      const aside = setAside(this.#fs, { fd, path, start: this.#length }, timestamp(now()));
      // From here on the bytes are safe; a cut that fails is only tried again.
      this.#tail = "refused";
      onRecovery({ session_id, kept_seq: this.#frames?.last_seq ?? 0, cut_bytes, aside });
    }
    this.#cutTail(fd);
  }

  #dropTail(): void {
    if (this.#tail !== "torn") this.#tail = "refused";
    if (this.#fd === undefined || this.#tail === "torn") return;
    try {
      this.#cutTail(this.#fd);
    } catch {
      // The bytes stay, marked as refused, until the next append can cut them off; reads end in front of them.
    }
    // A new handle next time: this one may be read-only, or its device gone.
    this.release();
  }

  /** Synced: a refused frame that comes back after a power cut would stand in the place of a good one. */
  #cutTail(fd: number): void {
    this.#fs.ftruncateSync(fd, this.#length);
    this.#fs.fdatasyncSync(fd);
    this.#tail = "clean";
  }

  #shortened(): Error {
    return new Error(`${this.#options.path} is shorter than it was; was it removed or edited?`);
  }
}

/** A log on a read-only disk can still be read. */
function openExisting(fs: FileSystem, path: string): number | undefined {
  try {
    return fs.openSync(path, "r+");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (!["EACCES", "EROFS", "EPERM"].includes(errnoOf(error) ?? "")) throw error;
    return fs.openSync(path, "r");
  }
}
