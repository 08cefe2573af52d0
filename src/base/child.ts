// Starts and ends every agent process. Bytes in, bytes out, and an end that leaves no process running. Knows no protocol and
// no vendor.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { Coalescer } from "./coalesce.ts";
import { CodedError, readErrno, toMessage } from "./coded-error.ts";
import { findByEnvironment, killAll, type ProcessId, takeSnapshot } from "./descendants.ts";
import { LineSplitter } from "./ndjson.ts";
import { defined } from "./values.ts";

export interface ChildOrder {
  command: string;
  args: readonly string[];
  cwd?: string;
  env: Record<string, string | undefined>;
  /** Additional pipes, as descriptors 3, 4, … */
  pipes?: readonly ChildPipe[];
  /** The variable that marks its descendants; a program that is marked itself needs another one than its parent. */
  marker?: string;
  /** Its descendants cannot outlive it (it creates a pid namespace), so there is nothing to sweep. */
  endsWhole?: boolean;
}

export interface ChildPipe {
  /** Everything the child can read from it. */
  input?: Buffer;
  output?(chunk: Buffer): void;
}

export interface ChildHandlers {
  output(chunk: Buffer): void;
  /** One line of stderr. */
  errorLine(line: string): void;
  /** stdout is closed; the process may still be running. */
  outputEnd?(): void;
}

export interface ChildExit {
  code?: number;
  signal?: string;
}

export interface StopOptions {
  /** Close stdin first, and wait this long for the process to exit. */
  finishMs?: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs?: number;
}

/** Inherited by every process that the child starts, in any session or process group. */
export const RUN_MARKER = "BLEMEES_RUN_ID";
/** After stdin, stdout and stderr. */
const FIRST_PIPE = 3;
const TERM_GRACE_MS = 500;
const KILL_LIMIT_MS = 1000;
/** A fork bomb may win; everything else is gone after two passes. */
const SWEEP_PASSES = 8;
const SWEEP_GRACE_MS = 300;
const DRAIN_LIMIT_MS = 1000;
const MAX_ERROR_LINE_BYTES = 64 * 1024;

/** Resolves once the process runs; rejects with `spawn_failed` and `data.reason`. */
export async function startChild(order: ChildOrder, handlers: ChildHandlers): Promise<Child> {
  if (order.cwd !== undefined) await checkCwd(order.cwd);
  return spawnChild(order, handlers).started;
}

export interface SpawnedChild {
  process: ChildProcessWithoutNullStreams;
  /** Resolves once the process runs; rejects with `spawn_failed`. */
  started: Promise<Child>;
}

/** Like `startChild`, without a check of the directory, for callers that need the process at once. */
export function spawnChild(order: ChildOrder, handlers: ChildHandlers): SpawnedChild {
  const marker = order.marker ?? RUN_MARKER;
  const pipes = order.pipes ?? [];
  const runId = order.env[marker] ?? randomUUID();
  let proc: ChildProcessWithoutNullStreams;
  try {
    proc = spawn(order.command, order.args, {
      ...defined({ cwd: order.cwd }),
      env: { ...order.env, [marker]: runId },
      stdio: ["pipe", "pipe", "pipe", ...pipes.map(() => "pipe" as const)],
      // Its own process group: a Ctrl-C at the daemon's terminal must not reach the agents.
      detached: true,
    }) as ChildProcessWithoutNullStreams;
  } catch (cause) {
    throw spawnError(order, cause);
  }
  const running = new Promise<void>((resolve, reject) => {
    proc.once("spawn", resolve);
    proc.once("error", (cause) => reject(spawnError(order, cause)));
  });
  // Without free descriptors Node creates no streams, and reports the reason a moment later.
  if (proc.stdin === undefined) return { process: proc, started: running as Promise<never> };
  // Wired at once, so that no event of a short-lived process is missed.
  const child = new Child(proc, { ...order, marker, pipes }, runId, handlers);
  return { process: proc, started: running.then(() => child) };
}

export class Child {
  readonly runId: string;
  /** The process has exited; its last output may still arrive. */
  readonly exit: Promise<ChildExit>;
  /** The process has exited, its output was delivered, and its descendants are gone. */
  readonly done: Promise<ChildExit>;
  readonly #proc: ChildProcessWithoutNullStreams;
  readonly #coalescer: Coalescer;
  readonly #descendants: ProcessId[] = [];
  readonly #marker: string;
  readonly #endsWhole: boolean;
  #hasExited = false;
  #hurry: () => void = () => undefined;
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  #stopping: Promise<void> | undefined;

  constructor(
    proc: ChildProcessWithoutNullStreams,
    order: { marker: string; pipes: readonly ChildPipe[]; endsWhole?: boolean },
    runId: string,
    handlers: ChildHandlers,
  ) {
    const { pipes } = order;
    this.#proc = proc;
    this.#marker = order.marker;
    this.#endsWhole = order.endsWhole === true;
    this.runId = runId;
    this.#coalescer = new Coalescer(proc.stdout);
    proc.stdout.on("data", (chunk: Buffer) => {
      handlers.output(chunk);
      if (!this.#hasExited) this.#coalescer.note(chunk.length);
    });
    const outputEnded = onceClosed(proc.stdout);
    const errorEnded = readLines(proc.stderr, (line) => handlers.errorLine(line));
    void outputEnded.then(() => handlers.outputEnd?.());
    const further = pipes.map((pipe, index) => wirePipe(proc.stdio[FIRST_PIPE + index] as Duplex, pipe));
    // EPIPE also reaches the callback of the failed write; without a listener it would crash the daemon.
    proc.stdin.on("error", () => undefined);
    this.exit = new Promise((resolve) => {
      proc.once("exit", (code, signal) => {
        this.#hasExited = true;
        resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) });
      });
    });
    this.done = this.exit.then(async (exit) => {
      this.#coalescer.close();
      // At most one full pipe is left, and a dead process cannot be paused: read it even if the consumer paused.
      proc.stdout.resume();
      const ended = Promise.all([outputEnded, errorEnded, ...further]);
      // Processes that hold its output open are among those being swept.
      if (this.#isCutShort) await within(SWEEP_GRACE_MS, ended);
      await Promise.all([this.#sweep(), within(DRAIN_LIMIT_MS, ended)]);
      proc.stdin.destroy();
      proc.stdout.destroy();
      proc.stderr.destroy();
      for (const [index] of pipes.entries()) (proc.stdio[FIRST_PIPE + index] as Duplex).destroy();
      return exit;
    });
  }

  get pid(): number {
    return this.#proc.pid ?? 0;
  }

  /** Writes one line. Resolves when the pipe accepted it, rejects if the process no longer reads. */
  write(line: string): Promise<void> {
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

  /** Ends the process and everything it started. A second call does not wait for the first one's timeouts. */
  stop(options: StopOptions = {}): Promise<void> {
    if (options.finishMs === undefined) this.#hurry();
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  async #stop(options: StopOptions): Promise<void> {
    // Once their parent is dead they are in no tree; without markers this list is all we have.
    await this.#remember();
    if (options.finishMs !== undefined && !this.#hasExited) {
      this.#proc.stdin.end();
      await within(options.finishMs, Promise.race([this.exit, this.#hurried]));
      await this.#remember();
    }
    if (!this.#hasExited) {
      this.#signal("SIGTERM");
      await within(options.graceMs ?? TERM_GRACE_MS, this.exit);
    }
    if (!this.#hasExited) {
      this.#signal("SIGKILL");
      await within(KILL_LIMIT_MS, this.exit);
    }
    await within(KILL_LIMIT_MS + DRAIN_LIMIT_MS, this.done);
  }

  #signal(signal: NodeJS.Signals): void {
    // `hasExited`, not `proc.killed`, which is true as soon as a signal was sent.
    if (!this.#hasExited) this.#proc.kill(signal);
  }

  async #remember(): Promise<void> {
    if (this.#hasExited || this.#endsWhole) return;
    this.#descendants.push(...(await takeSnapshot(this.pid).catch(() => [])));
  }

  /** If sweeping is impossible (no /proc, no file descriptor left), the process itself has still ended. */
  async #sweep(): Promise<void> {
    if (this.#endsWhole && !this.#isCutShort) return;
    let left = [...this.#descendants];
    // Processes that fork while being killed leave new ones: repeat until a pass finds none.
    for (let pass = 0; pass < SWEEP_PASSES; pass += 1) {
      const marked = await findByEnvironment(this.#marker, (value) => value === this.runId).catch(() => []);
      if (pass > 0 && marked.length === 0) return;
      // SIGTERM only in the first pass.
      left = await killAll([...left, ...marked], pass === 0 && !this.#isCutShort ? SWEEP_GRACE_MS : 0);
    }
  }

  /** If stopped while creating its namespace, bubblewrap leaves the process inside waiting forever. */
  get #isCutShort(): boolean {
    return this.#endsWhole && this.#stopping !== undefined;
  }
}

/** Resolves when the promise settles or the time is up. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
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
  const splitter = new LineSplitter(MAX_ERROR_LINE_BYTES, {
    line,
    badLine: (bytes) => line(bytes.toString("utf8")),
  });
  stream.on("data", (chunk: Buffer) => splitter.push(chunk));
  return onceClosed(stream).then(() => {
    const rest = splitter.rest().toString("utf8");
    if (rest !== "") line(rest);
  });
}

function onceClosed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("end", resolve);
    stream.once("close", resolve);
    stream.on("error", () => resolve());
  });
}

/** Throws `spawn_failed` unless the directory exists. */
export async function checkCwd(cwd: string): Promise<void> {
  const info = await stat(cwd).catch(() => undefined);
  if (info?.isDirectory()) return;
  const fault = info === undefined ? "does not exist" : "is not a directory";
  throw new CodedError("spawn_failed", `cwd ${cwd} ${fault}; give the path of an existing directory`, {
    data: { reason: "bad_cwd" },
  });
}

const REASONS: Readonly<Record<string, [reason: string, advice: string]>> = {
  ENOENT: ["not_found", "not found; check the path"],
  EACCES: ["not_executable", "is not executable; check its permissions"],
  E2BIG: ["too_long", "got too many or too long arguments; shorten the options"],
};

function spawnError(order: ChildOrder, cause: unknown): CodedError {
  const [reason, advice] = REASONS[readErrno(cause) ?? ""] ?? ["other", `did not start: ${toMessage(cause)}`];
  return new CodedError("spawn_failed", `${order.command} ${advice}`, { cause, data: { reason } });
}
