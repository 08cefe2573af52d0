// In-memory streams of a process: a terminal that records its output, or pipes.
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { Io, Stop } from "../../../src/cli/demian/io.ts";
import { MemorySink } from "../memory-sink.ts";

export interface MemoryIo extends Io {
  stdout: MemorySink;
  stderr: MemorySink;
  stdin: PassThrough & { isTTY?: boolean };
  /** Emits "write" and "exit". */
  changes: EventEmitter;
}

class TellingSink extends MemorySink {
  readonly #changes: EventEmitter;

  constructor(isTTY: boolean, changes: EventEmitter) {
    super(isTTY);
    this.columns = 100;
    this.#changes = changes;
  }

  override write(text: string): boolean {
    super.write(text);
    this.#changes.emit("write");
    return true;
  }
}

export interface MemoryOptions {
  isTTY?: boolean;
  hasInput?: boolean;
  env?: Record<string, string>;
  cwd?: string;
}

/** At a terminal stdout and stderr are one. */
export function memoryIo({
  isTTY = false,
  hasInput = false,
  env = {},
  cwd = "/",
}: MemoryOptions = {}): MemoryIo {
  const changes = new EventEmitter();
  const stderr = new TellingSink(isTTY, changes);
  const listeners = new Set<(stop: Stop) => void>();
  return {
    stdin: Object.assign(new PassThrough(), { isTTY }),
    stdout: isTTY ? stderr : new TellingSink(false, changes),
    stderr,
    env,
    cwd,
    isShared: isTTY,
    hasInput,
    changes,
    onStop: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    chdir: () => undefined,
    exit: (code) => {
      changes.emit("exit", code);
      throw new Error(`exit ${code}`);
    },
  };
}
