// The input and output of an agent process in its run directory: stdin is a FIFO that the process holds open itself,
// stdout and stderr are files. Nothing closes when this process dies, so the agent continues, and a later daemon
// continues from the offsets that are stored with the frames.
import { readlinkSync, rmSync } from "node:fs";
import type { ChildHandlers, ChildIo } from "../child.ts";
import { splitErrorLines } from "../child-pipes.ts";
import { Coalescer } from "../coalesce.ts";
import { readErrno } from "../coded-error.ts";
import type { LineSplitter } from "../ndjson.ts";
import { Brake } from "./brake.ts";
import type { RunDirectory } from "./directory.ts";
import { FifoWriter } from "./fifo.ts";
import { Follower, READ_BYTES } from "./follow.ts";
import type { RunMark } from "./mark.ts";
import { Needed, type Place } from "./needed.ts";
import { type RecordedCall, RunRecord } from "./record.ts";
import { Repetition } from "./repetition.ts";

export interface RunFilesParts {
  directory: RunDirectory;
  handlers: ChildHandlers;
  /** Where reading starts; absent: at the beginning. */
  from?: RunMark;
  /** The last entry of the record so far. */
  lastEntry?: number;
  /** The process is gone: its files are read to their end, and what is written to it never arrives. */
  hasEnded?: boolean;
  /** Recording failed: no later daemon can take the process over. */
  unrecorded(error: unknown): void;
}

const LF = 0x0a;
const CHECK_MS = 250;
/** Interval at which is checked whether all output of an ended process was read. */
const READ_CHECK_MS = 5;
/** Bytes replayed per step when a process is adopted. */
const STEP_BYTES = 256 * 1024;

export class RunFiles implements ChildIo {
  readonly directory: RunDirectory;
  /** The process had ended before its files were opened. */
  readonly hasEnded: boolean;
  /** Resolves when reading has started, or the files were closed first. */
  readonly started: Promise<void>;
  /** Resolves when all output of a process that has ended was read, or the files were closed first. */
  readonly allRead: Promise<void>;
  readonly record: RunRecord;
  readonly #handlers: ChildHandlers;
  readonly #unrecorded: (error: unknown) => void;
  readonly #out: Follower;
  readonly #err: Follower;
  readonly #errors: LineSplitter;
  readonly #coalescer: Coalescer;
  readonly #brake: Brake;
  /** Absent: the process has ended. */
  readonly #fifo: FifoWriter | undefined;
  readonly #repetition = new Repetition();
  readonly #needed: Needed;
  #settleStart: () => void = () => undefined;
  #settleRead: () => void = () => undefined;
  #isRecorded = true;
  #outEnd: number;
  #errEnd: number;
  #check: NodeJS.Timeout | undefined;
  #isStarted = false;
  #hasExited = false;
  #isClosed = false;

  /** Unless it has ended, the process must have the FIFO open. */
  constructor({ directory, handlers, from, lastEntry, hasEnded = false, unrecorded }: RunFilesParts) {
    this.directory = directory;
    this.hasEnded = hasEnded;
    this.#handlers = handlers;
    this.#unrecorded = unrecorded;
    this.#outEnd = from?.out ?? 0;
    this.#errEnd = from?.err ?? 0;
    this.#errors = splitErrorLines((line) => handlers.errorLine(line));
    this.#fifo = hasEnded ? undefined : new FifoWriter(directory.input);
    this.#needed = new Needed(directory);
    this.record = new RunRecord(directory.record, lastEntry);
    this.#out = new Follower({
      path: directory.output,
      offset: this.#outEnd,
      chunk: (bytes) => this.#onOutput(bytes),
    });
    this.#err = new Follower({
      path: directory.errors,
      offset: this.#errEnd,
      chunk: (bytes) => this.#onErrors(bytes),
    });
    this.#brake = new Brake({
      path: directory.path,
      unreadBytes: () => this.#out.unreadBytes,
      diskFull: () =>
        handlers.errorLine("[blemees] the disk is nearly full; the agent is paused until there is space"),
    });
    this.#coalescer = new Coalescer({
      pause: () => this.#out.pause(),
      // Before `start`, only `step` reads.
      resume: () => this.isStarted && this.#out.resume(),
    });
    this.started = new Promise((resolve) => {
      this.#settleStart = resolve;
    });
    this.allRead = new Promise((resolve) => {
      this.#settleRead = resolve;
    });
  }

  /** Whether output is being read. Until then, an adopted process is being replayed. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Starts reading. `pid` is the process, which leads its own group. */
  start(pid: number): void {
    this.#isStarted = true;
    this.#repetition.end();
    if (!this.hasEnded) this.#brake.start(pid);
    if (!this.#coalescer.isHeld) this.#out.resume();
    this.#err.resume();
    this.#check = this.hasEnded
      ? setInterval(() => this.#lookWhetherRead(), READ_CHECK_MS)
      : setInterval(() => this.#lookAt(pid), CHECK_MS).unref();
    this.#settleStart();
  }

  /** How far the output has been read. Store it together with the frames that came from it. */
  get mark(): RunMark {
    return { run_id: this.directory.id, out: this.#outEnd, err: this.#errEnd, n: this.record.last };
  }

  /** The same for a session, without calls that are still to be repeated. */
  markOf(session_id: string): RunMark {
    return this.isStarted ? this.mark : { ...this.mark, n: this.#repetition.lastOf(session_id) };
  }

  /** The recorded calls after these snapshots are made again; what they need stays until `start`. */
  startRepeating(snapshots: readonly (Place & { session_id: string })[]): void {
    for (const { session_id, out, n } of snapshots) {
      this.#repetition.note(session_id, n);
      this.#needed.set(session_id, { out, n });
    }
  }

  /** This call of the session was made again. */
  noteRepeated(session_id: string, n: number): void {
    this.#repetition.note(session_id, n);
  }

  /** Drops this line when it is next written: the earlier daemon wrote it. */
  expectWritten(line: string): void {
    this.#repetition.expect(line);
  }

  /** Whether this line is still to come. */
  isExpected(line: string): boolean {
    return this.#repetition.isExpected(line);
  }

  /**
   * Reads a part of the output before `start`, at most to the end of a line for which `isStop` is true. Returns false
   * once everything before `to` was read.
   */
  step(to: number, isStop: (line: Buffer) => boolean = () => false): boolean {
    const from = this.#out.offset;
    if (from >= to) return false;
    const read = this.#out.read(from, Math.min(to, from + STEP_BYTES));
    if (read.length === 0) throw new Error("the output file was truncated");
    const bytes = read.subarray(0, findStop(read, isStop));
    this.#out.seek(from + bytes.length);
    this.#onOutput(bytes);
    return true;
  }

  /** A later daemon can start from here for this session: what no session needs is freed. */
  noteSnapshot(session_id: string, place: Place): void {
    this.#needed.set(session_id, place);
    this.#trim();
  }

  /** This session has left the process, or its end is stored. After the last one the directory of an ended process goes. */
  dropSnapshot(session_id: string): void {
    if (this.#needed.delete(session_id)) this.#trim();
  }

  async write(line: string): Promise<void> {
    if (this.#repetition.take(line)) return;
    // Its end is reported soon, and says more than a failed write.
    if (this.#fifo === undefined) return new Promise(() => undefined);
    let n = 0;
    this.keep(() => {
      n = this.record.write(line);
    });
    const written = this.#fifo.write(Buffer.from(`${line}\n`), () => this.keep(() => this.record.done(n)));
    if (!this.#hasExited) this.#coalescer.expect();
    await written;
  }

  /** Resolves when the process can read everything that was written to it, or will not get it. */
  drained(): Promise<void> {
    return this.#fifo?.drained() ?? Promise.resolve();
  }

  /**
   * Makes a call, and records it together with the first line that it writes, at the latest when it returns. `at`: the end
   * of the output that the session has processed.
   */
  call<T>(call: Omit<RecordedCall, "n" | "at_ms">, make: () => T): T {
    this.keep(() => this.record.hold(call));
    if (!this.isStarted) this.noteRepeated(call.session_id, this.record.last);
    try {
      return make();
    } finally {
      this.keep(() => this.record.flush());
    }
  }

  pause(): void {
    if (this.#hasExited) return;
    this.#coalescer.hold();
    this.#brake.watch();
  }

  resume(): void {
    if (this.#hasExited) return;
    this.#brake.unwatch();
    this.#coalescer.release();
  }

  /** The process itself holds the other end of its input open. */
  endInput(): boolean {
    // A stopped process would not get the signal that follows.
    this.#brake.release();
    return false;
  }

  async finish(): Promise<void> {
    this.#hasExited = true;
    clearInterval(this.#check);
    this.#brake.close();
    this.#coalescer.close();
    this.#drain();
  }

  /** Nothing that could write is left: reads the rest. The directory stays until no session needs it (`dropSnapshot`). */
  close(): void {
    if (this.#isClosed) return;
    this.#drain();
    const rest = this.#errors.rest().toString("utf8");
    if (rest !== "") this.#handlers.errorLine(rest);
    this.detach();
    this.#needed.end();
    this.#handlers.outputEnd?.();
  }

  /** Releases the process: nothing more is read, and nothing is removed. */
  detach(): void {
    this.#isClosed = true;
    if (this.#brake.isStopped) this.#brake.release();
    clearInterval(this.#check);
    this.#brake.close();
    this.#coalescer.close();
    this.#out.close();
    this.#err.close();
    this.#fifo?.close();
    this.record.close();
    this.#settleStart();
    this.#settleRead();
  }

  #onOutput(bytes: Buffer): void {
    // First, so that a call made while the chunk is handled is recorded after it.
    const last = bytes.lastIndexOf(LF);
    if (last !== -1) this.#outEnd = this.#out.offset - bytes.length + last + 1;
    this.#handlers.output(bytes);
    if (!this.#isStarted || this.#hasExited) return;
    this.#coalescer.note(bytes.length);
    if (this.#brake.isStopped || bytes.length >= READ_BYTES) this.#brake.check();
  }

  #onErrors(bytes: Buffer): void {
    const last = bytes.lastIndexOf(LF);
    if (last !== -1) this.#errEnd = this.#err.offset - bytes.length + last + 1;
    this.#errors.push(bytes);
  }

  #drain(): void {
    this.#out.drain();
    this.#err.drain();
  }

  /** Runs work that adoption depends on; if it fails, the process will not be adopted. */
  keep(work: () => void): void {
    if (!this.#isRecorded) return;
    try {
      work();
    } catch (error) {
      this.#isRecorded = false;
      this.#unrecorded(error);
      // With an incomplete record it must not be adopted.
      tryTo(() => rmSync(this.directory.description, { force: true }));
    }
  }

  #trim(): void {
    const { first } = this.#needed;
    if (first === undefined || this.#isClosed) return;
    this.keep(() => this.record.forget(first.n));
    this.#needed.free({ out: first.out, err: this.#errEnd });
  }

  /** A file neither blocks its writer nor signals that the writer closed it. */
  #lookAt(pid: number): void {
    this.#brake.checkDisk();
    this.#brake.check();
    if (process.platform !== "linux") return;
    try {
      readlinkSync(`/proc/${pid}/fd/1`);
    } catch (error) {
      if (readErrno(error) === "ENOENT" && this.#out.unreadBytes === 0) this.#handlers.outputEnd?.();
    }
  }

  #lookWhetherRead(): void {
    if (this.#out.unreadBytes === 0 && this.#err.unreadBytes === 0) this.#settleRead();
  }
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // The caller explains why this may fail.
  }
}

/** The length up to the end of the first line at which to stop, or of all. */
function findStop(bytes: Buffer, isStop: (line: Buffer) => boolean): number {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    if (end === -1) break;
    if (isStop(bytes.subarray(start, end))) return end + 1;
    start = end + 1;
  }
  return bytes.length;
}
