// The streams of the process and what stops it, as one thing that a test can put in place of the real ones.
import { fstatSync } from "node:fs";
import { CodedError, errnoOf } from "../../base/coded-error.ts";
import { hasInput } from "../input.ts";
import type { Sink } from "../output.ts";

export type Stop = "SIGINT" | "SIGTERM" | "SIGHUP" | "reader_gone";

export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** stdout and stderr lead to the same terminal, file or pipe. */
  isShared: boolean;
  /** Something may have been put on stdin for us. */
  hasInput: boolean;
  /** While somebody listens, nothing of this ends the process by itself. Gives back how to stop listening. */
  onStop(listener: (stop: Stop) => void): () => void;
  chdir(path: string): void;
  exit(code: number): never;
}

/** What a shell gives to a program that ended by it. */
export const EXIT_CODES: Readonly<Record<Stop, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  // As our other programs: whoever reads no further has all that it wanted.
  reader_gone: 0,
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class ProcessIo implements Io {
  readonly stdin = process.stdin;
  readonly stdout = process.stdout;
  readonly stderr = process.stderr;
  readonly env = process.env;
  readonly isShared = isSameFile(1, 2);
  readonly #listeners = new Set<(stop: Stop) => void>();

  constructor() {
    // Talk that nobody reads is no reason to end a task whose answer goes elsewhere.
    process.stderr.on("error", (error) => {
      if (errnoOf(error) !== "EPIPE") throw error;
    });
  }

  get cwd(): string {
    try {
      return process.cwd();
    } catch (cause) {
      throw new CodedError("bad_cwd", "the current directory does not exist any more; go to one that does", {
        cause,
      });
    }
  }

  get hasInput(): boolean {
    return hasInput();
  }

  onStop(listener: (stop: Stop) => void): () => void {
    const onSignal = (signal: NodeJS.Signals): void => listener(signal as Stop);
    this.#listeners.add(listener);
    for (const signal of SIGNALS) process.on(signal, onSignal);
    return () => {
      this.#listeners.delete(listener);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    };
  }

  /** The reader of stdout is gone. */
  readerGone(): void {
    if (this.#listeners.size === 0) this.exit(EXIT_CODES.reader_gone);
    for (const listener of this.#listeners) listener("reader_gone");
  }

  chdir(path: string): void {
    process.chdir(path);
  }

  exit(code: number): never {
    process.exit(code);
  }
}

function isSameFile(one: number, other: number): boolean {
  try {
    const [a, b] = [fstatSync(one), fstatSync(other)];
    return a.dev === b.dev && a.ino === b.ino && a.rdev === b.rdev;
  } catch {
    return false; // one of them is closed
  }
}
