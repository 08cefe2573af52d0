// The input and output of a child process over pipes: they close when either side ends.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Duplex } from "node:stream";
import type { ChildHandlers, ChildIo, ChildPipe } from "./child.ts";
import { Coalescer } from "./coalesce.ts";
import { LineSplitter } from "./ndjson.ts";

/** After stdin, stdout and stderr. */
const FIRST_PIPE = 3;
export const MAX_ERROR_LINE_BYTES = 64 * 1024;

export class PipeIo implements ChildIo {
  readonly #proc: ChildProcessWithoutNullStreams;
  readonly #coalescer: Coalescer;
  readonly #further: Duplex[];
  readonly #ended: Promise<unknown>;
  #hasExited = false;

  constructor(
    proc: ChildProcessWithoutNullStreams,
    pipes: readonly ChildPipe[],
    handlers: Pick<ChildHandlers, "output" | "errorLine" | "outputEnd">,
  ) {
    this.#proc = proc;
    this.#coalescer = new Coalescer(proc.stdout);
    this.#further = pipes.map((_, index) => proc.stdio[FIRST_PIPE + index] as Duplex);
    proc.stdout.on("data", (chunk: Buffer) => {
      handlers.output(chunk);
      if (!this.#hasExited) this.#coalescer.note(chunk.length);
    });
    const outputEnded = onceClosed(proc.stdout);
    const errorEnded = readLines(proc.stderr, (line) => handlers.errorLine(line));
    void outputEnded.then(() => handlers.outputEnd?.());
    const further = pipes.map((pipe, index) => wirePipe(this.#further[index] as Duplex, pipe));
    this.#ended = Promise.all([outputEnded, errorEnded, ...further]);
    // EPIPE also reaches the callback of the failed write; without a listener it would crash the daemon.
    proc.stdin.on("error", () => undefined);
  }

  write(line: string): Promise<void> {
    if (!this.#hasExited) this.#coalescer.expect();
    return new Promise((resolve, reject) => {
      this.#proc.stdin.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  pause(): void {
    if (!this.#hasExited) this.#coalescer.hold();
  }

  resume(): void {
    if (!this.#hasExited) this.#coalescer.release();
  }

  endInput(): boolean {
    this.#proc.stdin.end();
    return true;
  }

  async finish(): Promise<void> {
    this.#hasExited = true;
    this.#coalescer.close();
    // At most one full pipe is left, and a dead process cannot be paused: read it even if the consumer paused.
    this.#proc.stdout.resume();
    await this.#ended;
  }

  close(): void {
    this.#proc.stdin.destroy();
    this.#proc.stdout.destroy();
    this.#proc.stderr.destroy();
    for (const pipe of this.#further) pipe.destroy();
  }
}

/** Resolves when the child has closed the pipe. */
function wirePipe(stream: Duplex, pipe: ChildPipe): Promise<void> {
  const ended = onceClosed(stream);
  stream.on("data", (chunk: Buffer) => pipe.output?.(chunk));
  if (pipe.input !== undefined) stream.end(pipe.input);
  return ended;
}

function readLines(stream: NodeJS.ReadableStream, line: (text: string) => void): Promise<void> {
  const splitter = splitErrorLines(line);
  stream.on("data", (chunk: Buffer) => splitter.push(chunk));
  return onceClosed(stream).then(() => {
    const rest = splitter.rest().toString("utf8");
    if (rest !== "") line(rest);
  });
}

export function splitErrorLines(line: (text: string) => void): LineSplitter {
  return new LineSplitter(MAX_ERROR_LINE_BYTES, {
    line,
    badLine: (bytes) => line(bytes.toString("utf8")),
  });
}

function onceClosed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("end", resolve);
    stream.once("close", resolve);
    stream.on("error", () => resolve());
  });
}
