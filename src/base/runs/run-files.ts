// The input and output of an agent process in its run directory: stdin is a FIFO that the process holds open itself,
// stdout and stderr are files. Nothing closes when this process dies, so the agent continues, and a later daemon
// continues from the offsets that are stored with the frames.
import { closeSync, openSync, readlinkSync, rmSync } from "node:fs";
import type { ChildHandlers, ChildIo } from "../child.ts";
import { splitErrorLines } from "../child-pipes.ts";
import { Coalescer } from "../coalesce.ts";
import { readErrno } from "../coded-error.ts";
import type { LineSplitter } from "../ndjson.ts";
import { freeBytes, MIN_FREE_BYTES, type RunDirectory, removeRunDirectory } from "./directory.ts";
import { FifoWriter } from "./fifo.ts";
import { Follower, READ_BYTES } from "./follow.ts";
import type { RunMark } from "./mark.ts";
import { type RecordedCall, RunRecord } from "./record.ts";
import { systemCalls } from "./system-calls.ts";

export interface RunFilesParts {
  directory: RunDirectory;
  handlers: ChildHandlers;
  /** Where reading starts; absent: at the beginning. */
  from?: RunMark;
  /** The last entry of the record so far. */
  lastEntry?: number;
  /** Recording failed: no later daemon can take the process over. */
  unrecorded(error: unknown): void;
}

const LF = 0x0a;
/** A file exerts no back-pressure: with more unread output than this, the agent is stopped until most of it was read. */
const HIGH_BYTES = 4 * 1024 * 1024;
const LOW_BYTES = 1024 * 1024;
const CHECK_MS = 250;
/** Interval of that check while reading is paused. */
const BRAKE_MS = 10;
/** Bytes replayed per step when a process is adopted. */
const STEP_BYTES = 256 * 1024;
const BLOCK_BYTES = 4096;
/** Space is freed in pieces of this size. */
const FREE_BYTES = 256 * 1024;

export class RunFiles implements ChildIo {
  readonly directory: RunDirectory;
  /** Resolves when reading has started, or the files were closed first. */
  readonly started: Promise<void>;
  readonly record: RunRecord;
  readonly #handlers: ChildHandlers;
  readonly #unrecorded: (error: unknown) => void;
  readonly #out: Follower;
  readonly #err: Follower;
  readonly #errors: LineSplitter;
  readonly #coalescer: Coalescer;
  readonly #fifo: FifoWriter;
  /** Lines that the earlier daemon wrote: when a repeated call writes one of them, it is dropped. */
  readonly #written: string[] = [];
  readonly #snapshots = new Map<string, { out: number; n: number }>();
  /** Entries of the record that were repeated before `start`, by session. */
  readonly #repeated = new Map<string, number>();
  /** Space before these offsets has been freed. */
  readonly #freed = { out: 0, err: 0 };
  #settleStart: () => void = () => undefined;
  #isRecorded = true;
  #outEnd: number;
  #errEnd: number;
  #check: NodeJS.Timeout | undefined;
  #braking: NodeJS.Timeout | undefined;
  #pid: number | undefined;
  #isStopped = false;
  #isDiskFull = false;
  #hasExited = false;
  #isClosed = false;

  /** The process must have the FIFO open. */
  constructor({ directory, handlers, from, lastEntry, unrecorded }: RunFilesParts) {
    this.directory = directory;
    this.#handlers = handlers;
    this.#unrecorded = unrecorded;
    this.#outEnd = from?.out ?? 0;
    this.#errEnd = from?.err ?? 0;
    this.#errors = splitErrorLines((line) => handlers.errorLine(line));
    this.#fifo = new FifoWriter(directory.input);
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
    this.#coalescer = new Coalescer({
      pause: () => this.#out.pause(),
      // Before `start`, only `step` reads.
      resume: () => this.isStarted && this.#out.resume(),
    });
    this.started = new Promise((resolve) => {
      this.#settleStart = resolve;
    });
  }

  /** Whether output is being read. Until then, an adopted process is being replayed. */
  get isStarted(): boolean {
    return this.#pid !== undefined;
  }

  /** Starts reading. `pid` is the process, which leads its own group. */
  start(pid: number): void {
    this.#pid = pid;
    this.#written.length = 0;
    // The earlier daemon may have died while it was stopped.
    this.#signal("SIGCONT");
    if (!this.#coalescer.isHeld) this.#out.resume();
    this.#err.resume();
    this.#check = setInterval(() => this.#lookAt(pid), CHECK_MS).unref();
    this.#settleStart();
  }

  /** How far the output has been read. Store it together with the frames that came from it. */
  get mark(): RunMark {
    return { run_id: this.directory.id, out: this.#outEnd, err: this.#errEnd, n: this.record.last };
  }

  /** The same for a session, without calls that are still to be repeated. */
  markOf(session_id: string): RunMark {
    return this.isStarted ? this.mark : { ...this.mark, n: this.#repeated.get(session_id) ?? 0 };
  }

  /** The recorded calls after these snapshots are made again; what they need stays until `start`. */
  startRepeating(snapshots: readonly { session_id: string; out: number; n: number }[]): void {
    for (const { session_id, out, n } of snapshots) {
      this.#repeated.set(session_id, n);
      this.#snapshots.set(session_id, { out, n });
    }
  }

  /** This call of the session was made again. */
  noteRepeated(session_id: string, n: number): void {
    this.#repeated.set(session_id, n);
  }

  /** Drops this line when it is next written: the earlier daemon wrote it. */
  expectWritten(line: string): void {
    this.#written.push(line);
  }

  /** Whether this line is still to come. */
  isExpected(line: string): boolean {
    return this.#written.includes(line);
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
  noteSnapshot(session_id: string, place: { out: number; n: number }): void {
    this.#snapshots.set(session_id, place);
    this.#trim();
  }

  /** This session has left the process. */
  dropSnapshot(session_id: string): void {
    if (this.#snapshots.delete(session_id)) this.#trim();
  }

  async write(line: string): Promise<void> {
    const known = this.#written.indexOf(line);
    if (known !== -1) {
      this.#written.splice(known, 1);
      return;
    }
    let n = 0;
    this.keep(() => {
      n = this.record.write(line);
    });
    await this.#fifo.write(Buffer.from(`${line}\n`), () => this.keep(() => this.record.done(n)));
  }

  /** Resolves when the process can read everything that was written to it, or will not get it. */
  drained(): Promise<void> {
    return this.#fifo.drained();
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
    // Nothing else notices how much it writes meanwhile.
    this.#braking ??= setInterval(() => this.#brake(), BRAKE_MS).unref();
  }

  resume(): void {
    if (this.#hasExited) return;
    this.#stopBraking();
    this.#coalescer.release();
  }

  /** The process itself holds the other end of its input open. */
  endInput(): boolean {
    // A stopped process would not get the signal that follows.
    this.#signal("SIGCONT");
    return false;
  }

  async finish(): Promise<void> {
    this.#hasExited = true;
    clearInterval(this.#check);
    this.#stopBraking();
    this.#coalescer.close();
    this.#drain();
  }

  /** Nothing that could write is left: reads the rest and removes the directory. */
  close(): void {
    if (this.#isClosed) return;
    this.#drain();
    const rest = this.#errors.rest().toString("utf8");
    if (rest !== "") this.#handlers.errorLine(rest);
    this.detach();
    removeRunDirectory(this.directory);
    this.#handlers.outputEnd?.();
  }

  /** Releases the process: nothing more is read, and nothing is removed. */
  detach(): void {
    this.#isClosed = true;
    if (this.#isStopped) this.#signal("SIGCONT");
    clearInterval(this.#check);
    this.#stopBraking();
    this.#coalescer.close();
    this.#out.close();
    this.#err.close();
    this.#fifo.close();
    this.record.close();
    this.#settleStart();
  }

  #onOutput(bytes: Buffer): void {
    // First, so that a call made while the chunk is handled is recorded after it.
    const last = bytes.lastIndexOf(LF);
    if (last !== -1) this.#outEnd = this.#out.offset - bytes.length + last + 1;
    this.#handlers.output(bytes);
    if (this.#pid === undefined || this.#hasExited) return;
    this.#coalescer.note(bytes.length);
    if (this.#isStopped || bytes.length >= READ_BYTES) this.#brake();
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
    const places = [...this.#snapshots.values()];
    if (places.length === 0 || this.#isClosed) return;
    this.keep(() => this.record.forget(Math.min(...places.map(({ n }) => n))));
    // If it fails, it is tried again at the next snapshot.
    tryTo(() => this.#free("out", this.directory.output, Math.min(...places.map(({ out }) => out))));
    tryTo(() => this.#free("err", this.directory.errors, this.#errEnd));
  }

  #free(which: "out" | "err", path: string, before: number): void {
    const end = before - (before % BLOCK_BYTES);
    const from = this.#freed[which];
    if (end - from < FREE_BYTES) return;
    const fd = openSync(path, "r+");
    try {
      systemCalls().freeSpace(fd, from, end);
    } finally {
      closeSync(fd);
    }
    this.#freed[which] = end;
  }

  /** A file neither blocks its writer nor signals that the writer closed it. */
  #lookAt(pid: number): void {
    this.#checkDisk();
    this.#brake();
    if (process.platform !== "linux") return;
    try {
      readlinkSync(`/proc/${pid}/fd/1`);
    } catch (error) {
      if (readErrno(error) === "ENOENT" && this.#out.unreadBytes === 0) this.#handlers.outputEnd?.();
    }
  }

  #stopBraking(): void {
    clearInterval(this.#braking);
    this.#braking = undefined;
  }

  #brake(): void {
    const { unreadBytes } = this.#out;
    const mustStop = this.#isDiskFull || unreadBytes > (this.#isStopped ? LOW_BYTES : HIGH_BYTES);
    if (mustStop === this.#isStopped) return;
    this.#isStopped = mustStop;
    this.#signal(mustStop ? "SIGSTOP" : "SIGCONT");
  }

  /** A write that fails would end most agents. */
  #checkDisk(): void {
    const isFull = freeBytes(this.directory.path) < MIN_FREE_BYTES / 2;
    if (isFull && !this.#isDiskFull) {
      this.#handlers.errorLine("[blemees] the disk is nearly full; the agent is paused until there is space");
    }
    this.#isDiskFull = isFull;
  }

  /** To the whole group: a program may be a script that runs the agent. */
  #signal(signal: NodeJS.Signals): void {
    if (this.#pid === undefined || this.#hasExited) return;
    try {
      process.kill(-this.#pid, signal);
    } catch {
      // It has exited; its end is reported elsewhere.
    }
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
