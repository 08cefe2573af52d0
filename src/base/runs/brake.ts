// Back-pressure on a process whose output is a file, which never blocks its writer: with too much unread output, or on a
// disk that is nearly full, the process is stopped until that has changed.
import { freeBytes, MIN_FREE_BYTES } from "./directory.ts";

export interface BrakeParts {
  /** On the disk of the output. */
  path: string;
  unreadBytes(): number;
  /** It is paused because the disk is nearly full. */
  diskFull(): void;
}

const HIGH_BYTES = 4 * 1024 * 1024;
const LOW_BYTES = 1024 * 1024;
/** Interval of the check while nothing is read. */
const PAUSED_MS = 10;

export class Brake {
  readonly #parts: BrakeParts;
  /** Undefined: there is nothing to stop. */
  #pid: number | undefined;
  #isStopped = false;
  #isDiskFull = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: BrakeParts) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** `pid` leads its own group. */
  start(pid: number): void {
    this.#pid = pid;
    // The earlier daemon may have died while it was stopped.
    this.release();
  }

  /** Stops it or lets it continue, as its unread output requires. */
  check(): void {
    const limit = this.#isStopped ? LOW_BYTES : HIGH_BYTES;
    const mustStop = this.#isDiskFull || this.#parts.unreadBytes() > limit;
    if (mustStop === this.#isStopped) return;
    this.#isStopped = mustStop;
    this.#signal(mustStop ? "SIGSTOP" : "SIGCONT");
  }

  /** A write that fails would end most agents. */
  checkDisk(): void {
    const isFull = freeBytes(this.#parts.path) < MIN_FREE_BYTES / 2;
    if (isFull && !this.#isDiskFull) this.#parts.diskFull();
    this.#isDiskFull = isFull;
  }

  /** Nothing is read for now, so nothing else notices how much it writes. */
  watch(): void {
    this.#timer ??= setInterval(() => this.check(), PAUSED_MS).unref();
  }

  unwatch(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Lets it continue, for example to receive a signal. */
  release(): void {
    this.#signal("SIGCONT");
  }

  /** It has exited, or is left to another daemon: it is not signalled again. */
  close(): void {
    this.unwatch();
    this.#pid = undefined;
  }

  /** To the whole group: a program may be a script that runs the agent. */
  #signal(signal: NodeJS.Signals): void {
    if (this.#pid === undefined) return;
    try {
      process.kill(-this.#pid, signal);
    } catch {
      // It has exited; its end is reported elsewhere.
    }
  }
}
