// Writes lines into the FIFO that an agent reads. A line that fits is written by one system call, so killing this
// process cannot split it.
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { CodedError, readErrno } from "../coded-error.ts";

interface Waiting {
  bytes: Buffer;
  written: number;
  /** Called synchronously after the last byte is written, so that the record is as exact as possible. */
  whole(): void;
  resolve(): void;
  reject(error: Error): void;
}

/** Retry interval while the FIFO is full. */
const RETRY_MS = 4;

export class FifoWriter {
  readonly #fd: number;
  readonly #waiting: Waiting[] = [];
  #retry: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** Throws if no process reads it. */
  constructor(path: string) {
    try {
      this.#fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (cause) {
      if (readErrno(cause) !== "ENXIO") throw cause;
      throw new CodedError("run_unusable", `no process reads ${path}`, { cause });
    }
  }

  /**
   * Resolves when the FIFO has all of it, after a call of `whole`; rejects if no process reads it. If there is room, it
   * is written when this returns.
   */
  write(bytes: Buffer, whole: () => void): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("the input of the process is closed"));
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes, written: 0, whole, resolve, reject });
      if (this.#waiting.length === 1) this.#pump();
    });
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Resolves when nothing is left to write, or can be written. */
  async drained(): Promise<void> {
    await this.#last;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    closeSync(this.#fd);
    this.#failAll(new Error("the input of the process is closed"));
  }

  #pump(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      try {
        next.written += writeSync(this.#fd, next.bytes, next.written);
      } catch (error) {
        if (readErrno(error) !== "EAGAIN") {
          this.#failAll(error as Error);
          return;
        }
        this.#retry = setTimeout(() => this.#pump(), RETRY_MS);
        return;
      }
      if (next.written < next.bytes.length) continue;
      this.#waiting.shift();
      next.whole();
      next.resolve();
    }
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
