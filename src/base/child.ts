// Starts and ends every agent process. Bytes in, bytes out, and an end that leaves no process running. Knows no protocol and
// no vendor.

import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { PipeIo } from "./child-pipes.ts";
import { CodedError, readErrno, toMessage } from "./coded-error.ts";
import { findByEnvironment, killAll, type ProcessId, takeSnapshot } from "./descendants.ts";
import { createRunDirectory, openForChild, type RunDirectory, removeRunDirectory } from "./runs/directory.ts";
import { RunFiles } from "./runs/run-files.ts";
import { defined } from "./values.ts";

export interface ChildOrder {
  command: string;
  args: readonly string[];
  cwd?: string;
  env: Record<string, string | undefined>;
  /** Everything it can read from stdin, which is then closed. Only with pipes. */
  input?: Buffer;
  /** Additional pipes, as descriptors 3, 4, … */
  pipes?: readonly ChildPipe[];
  /** The variable that marks its descendants; a program that is marked itself needs another one than its parent. */
  marker?: string;
  /** Gives it files and a FIFO instead of pipes, so that it survives this process; pipes if absent or impossible. */
  run?: RunOrder;
  /** Its descendants cannot outlive it (it creates a pid namespace), so there is nothing to sweep. */
  endsWhole?: boolean;
}

export interface RunOrder {
  /** The directory of all run directories. */
  root: string;
  /** It cannot survive this process: it has pipes, or could not be recorded. */
  unavailable(error: unknown): void;
}

export interface ChildPipe {
  /** Everything the child can read from it. */
  input?: Buffer;
  output?(chunk: Buffer): void;
}

export interface ChildHandlers {
  /** The bytes may be valid only until it returns. */
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
const TERM_GRACE_MS = 500;
const KILL_LIMIT_MS = 1000;
/** A fork bomb may win; everything else is gone after two passes. */
const SWEEP_PASSES = 8;
const SWEEP_GRACE_MS = 300;
const DRAIN_LIMIT_MS = 1000;

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
  const place = order.run === undefined ? undefined : prepareFiles(order.run);
  const runId = place?.id ?? order.env[marker] ?? randomUUID();
  // Wired at once, so that no event of a short-lived process is missed.
  const { proc, io } =
    place === undefined
      ? spawnOnPipes(order, { [marker]: runId }, handlers)
      : spawnOnFiles(order, { [marker]: runId }, place, handlers);
  const running = new Promise<void>((resolve, reject) => {
    proc.once("spawn", resolve);
    proc.once("error", (cause) => {
      if (place !== undefined) removeRunDirectory(place);
      reject(spawnError(order, cause));
    });
  });
  if (io === undefined) return { process: proc, started: running as Promise<never> };
  const child = new Child(toHandle(proc), io, { runId, marker, endsWhole: order.endsWhole });
  return { process: proc, started: running.then(() => child) };
}

interface Spawned {
  proc: ChildProcessWithoutNullStreams;
  /** Undefined if it did not start; the process reports the reason a moment later. */
  io: ChildIo | undefined;
}

function spawnOnPipes(order: ChildOrder, marked: Record<string, string>, handlers: ChildHandlers): Spawned {
  const pipes = order.pipes ?? [];
  const proc = spawnWith(order, marked, ["pipe", "pipe", "pipe", ...pipes.map(() => "pipe" as const)]);
  // Without free descriptors Node creates no streams.
  const isUp = proc.pid !== undefined && proc.stdin !== undefined;
  if (!isUp) return { proc, io: undefined };
  const io = new PipeIo(proc, pipes, handlers);
  if (order.input !== undefined) proc.stdin.end(order.input);
  return { proc, io };
}

function spawnOnFiles(
  order: ChildOrder,
  marked: Record<string, string>,
  directory: RunDirectory,
  handlers: ChildHandlers,
): Spawned {
  const unrecorded = order.run?.unavailable ?? (() => undefined);
  let files: RunFiles | undefined;
  try {
    const opened = openForChild(directory);
    try {
      // Before ours are closed: a process may end at once, and a FIFO without a reader cannot be opened.
      files = new RunFiles({ directory, handlers, unrecorded });
      const proc = spawnWith(order, marked, opened);
      if (proc.pid !== undefined) files.start(proc.pid);
      else files.detach();
      return { proc, io: proc.pid === undefined ? undefined : files };
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  } catch (error) {
    files?.detach();
    removeRunDirectory(directory);
    throw error instanceof CodedError ? error : spawnError(order, error);
  }
}

/** Undefined if there can be none; the agent then runs on pipes and ends with this process. */
function prepareFiles({ root, unavailable }: RunOrder): RunDirectory | undefined {
  try {
    return createRunDirectory(root);
  } catch (error) {
    unavailable(error);
    return undefined;
  }
}

function spawnWith(
  order: ChildOrder,
  marked: Record<string, string>,
  stdio: StdioOptions,
): ChildProcessWithoutNullStreams {
  try {
    return spawn(order.command, order.args, {
      ...defined({ cwd: order.cwd }),
      env: { ...order.env, ...marked },
      stdio,
      // Its own process group: a Ctrl-C at the daemon's terminal must not reach the agents.
      detached: true,
    }) as ChildProcessWithoutNullStreams;
  } catch (cause) {
    throw spawnError(order, cause);
  }
}

function toHandle(proc: ChildProcessWithoutNullStreams): ProcessHandle {
  return {
    pid: proc.pid ?? 0,
    // Not through `proc.killed`, which is true as soon as a signal was sent.
    exit: new Promise((resolve) => {
      proc.once("exit", (code, signal) => {
        resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) });
      });
    }),
    kill: (signal) => void proc.kill(signal),
  };
}

/** The input and output of a process. */
export interface ChildIo {
  /** Writes one line. Resolves when the process has it, rejects if it no longer reads. */
  write(line: string): Promise<void>;
  pause(): void;
  resume(): void;
  /** Closes stdin. False: the process would not notice. */
  endInput(): boolean;
  /** The process has exited: delivers what it wrote. Resolves when its output is closed. */
  finish(): Promise<void>;
  /** Nothing that could write is left. Delivers the rest. */
  close(): void;
}

/** A running process, ours or one that we have adopted. */
export interface ProcessHandle {
  readonly pid: number;
  readonly exit: Promise<ChildExit>;
  kill(signal: NodeJS.Signals): void;
}

export class Child {
  readonly runId: string;
  /** The process has exited; its last output may still arrive. */
  readonly exit: Promise<ChildExit>;
  /** The process has exited, its output was delivered, and its descendants are gone. */
  readonly done: Promise<ChildExit>;
  /** Its run directory; absent with pipes. */
  readonly files: RunFiles | undefined;
  readonly #process: ProcessHandle;
  readonly #io: ChildIo;
  readonly #descendants: ProcessId[] = [];
  readonly #marker: string;
  readonly #endsWhole: boolean;
  #exited: ChildExit | undefined;
  #hurry: () => void = () => undefined;
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  #stopping: Promise<void> | undefined;

  constructor(
    handle: ProcessHandle,
    io: ChildIo,
    { runId, marker, endsWhole }: { runId: string; marker: string; endsWhole?: boolean | undefined },
  ) {
    this.#process = handle;
    this.#io = io;
    this.files = io instanceof RunFiles ? io : undefined;
    this.#marker = marker;
    this.#endsWhole = endsWhole === true;
    this.runId = runId;
    this.exit = handle.exit.then((exit) => {
      this.#exited = exit;
      return exit;
    });
    this.done = this.exit.then(async (exit) => {
      const ended = io.finish();
      // Processes that hold its output open are among those being swept.
      if (this.#isCutShort) await waitAtMost(SWEEP_GRACE_MS, ended);
      await Promise.all([this.#sweep(), waitAtMost(DRAIN_LIMIT_MS, ended)]);
      io.close();
      return exit;
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Why it has exited; undefined while it runs. Known before `done`, which a busy machine can delay. */
  get exited(): ChildExit | undefined {
    return this.#exited;
  }

  /** Writes one line. Resolves when the process can read it, rejects if it no longer reads. */
  write(line: string): Promise<void> {
    return this.#io.write(line);
  }

  pause(): void {
    this.#io.pause();
  }

  resume(): void {
    this.#io.resume();
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
    if (options.finishMs !== undefined && this.#exited === undefined) {
      // An agent that does not notice the end of its input finishes at SIGTERM.
      if (!this.#io.endInput()) this.#signal("SIGTERM");
      await waitAtMost(options.finishMs, Promise.race([this.exit, this.#hurried]));
      await this.#remember();
    }
    if (this.#exited === undefined) {
      this.#signal("SIGTERM");
      await waitAtMost(options.graceMs ?? TERM_GRACE_MS, this.exit);
    }
    if (this.#exited === undefined) {
      this.#signal("SIGKILL");
      await waitAtMost(KILL_LIMIT_MS, this.exit);
    }
    await waitAtMost(KILL_LIMIT_MS + DRAIN_LIMIT_MS, this.done);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#exited === undefined) this.#process.kill(signal);
  }

  async #remember(): Promise<void> {
    if (this.#exited !== undefined || this.#endsWhole) return;
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
export async function waitAtMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
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
