// Standard streams, environment and signals of the process, behind an interface that tests replace.
import { fstatSync } from "node:fs";
import { CodedError, readErrno } from "../../base/coded-error.ts";
import { hasInput } from "../input.ts";
import type { Sink } from "../output.ts";

export type Stop = "SIGINT" | "SIGTERM" | "SIGHUP" | "reader_gone";

export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** stdout and stderr are the same terminal, file or pipe. */
  isShared: boolean;
  /** stdin may have input for us. */
  hasInput: boolean;
  /** While there is a listener, signals do not end the process. Returns a function that removes it. */
  onStop(listener: (stop: Stop) => void): () => void;
  chdir(path: string): void;
  exit(code: number): never;
}

/** Exit codes by the shell's convention. */
export const EXIT_CODES: Readonly<Record<Stop, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  // As in our other programs: a reader that stops early has what it wanted.
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
    // A closed stderr must not end a task whose answer goes to stdout.
    process.stderr.on("error", (error) => {
      if (readErrno(error) !== "EPIPE") throw error;
    });
  }

  get cwd(): string {
    try {
      return process.cwd();
    } catch (cause) {
      throw new CodedError("bad_cwd", "the current directory no longer exists; change to another one", {
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

  /** The reader of stdout has closed the pipe. */
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
