// The process of an agent, from its start to an end that is reported exactly once, whether it exits, is stopped, or
// closes one of its pipes. How a process is ended is child.ts.

import { stripVTControlCharacters } from "node:util";
import {
  type Child,
  type ChildExit,
  type ChildHandlers,
  type ChildOrder,
  checkCwd,
  type SpawnedChild,
  spawnChild,
  waitAtMost,
} from "./child.ts";
import { CodedError } from "./coded-error.ts";
import { StderrTail } from "./exit-message.ts";
import { adoptChild, type FoundRun } from "./runs/adopt.ts";
import type { RunMark } from "./runs/mark.ts";
import { defined } from "./values.ts";

/** Receives stdout. `end` may be called twice. */
export interface OutputReader {
  push(chunk: Buffer): void;
  end(): void;
}

export interface AgentProcessParts {
  /** For messages. */
  name: string;
  reader: OutputReader;
  /** How long it may take to exit after its stdin is closed. */
  finishMs: number;
  /** Between SIGTERM and SIGKILL, if not the default. */
  graceMs?: number;
  /** A line of stderr that is not blank. */
  errorLine(line: string): void;
  /** Called once, after all output. `expected`: we stopped it. */
  ended(exit: ChildExit, expected: boolean): void;
}

/** A closed pipe and the exit that explains it arrive in either order. */
export const EXIT_FOLLOWS_MS = 500;

export class AgentProcess implements ChildHandlers {
  readonly #parts: AgentProcessParts;
  readonly #stderr = new StderrTail();
  #child: Child | undefined;
  /** Settles once there is a child to stop, or will be none. */
  #starting: Promise<unknown> = Promise.resolve();
  #givingUp: Promise<void> | undefined;
  #isStopping = false;
  #exit: ChildExit | undefined;

  constructor(parts: AgentProcessParts) {
    this.#parts = parts;
  }

  /** Undefined before its start. */
  get child(): Child | undefined {
    return this.#child;
  }

  /** The last lines of stderr. */
  get lastLines(): readonly string[] {
    return this.#stderr.lines;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get hasEnded(): boolean {
    return this.#exit !== undefined;
  }

  /** Empty while it runs. */
  get exit(): ChildExit {
    return this.#exit ?? {};
  }

  /** Throws `spawn_failed`. */
  start(order: ChildOrder): Promise<void> {
    const started = this.#start(order);
    this.#starting = started.catch(() => undefined);
    return started;
  }

  /** Starts it at once, for a library that reads and writes the process itself. */
  spawn(order: ChildOrder): SpawnedChild {
    const spawned = spawnChild(order, this);
    const started = spawned.started.then((child) => {
      this.#child = child;
      void child.done.then((exit) => this.#end(exit));
      return child;
    });
    this.#starting = started.catch(() => undefined);
    return { ...spawned, started };
  }

  /** Continues with a process of an earlier daemon. Reads nothing before `files.start`. */
  adopt(run: FoundRun, from: RunMark, unrecorded: (error: unknown) => void): Child {
    const child = adoptChild(run, { handlers: this, from, unrecorded });
    this.#child = child;
    void child.done.then((exit) => this.#end(exit));
    return child;
  }

  /** Rejects with `backend_crashed` if the agent no longer reads; its end follows. */
  async write(line: string): Promise<void> {
    try {
      await this.#child?.write(line);
    } catch (cause) {
      void this.giveUp();
      const message = `${this.#parts.name} no longer reads its input; resume the session`;
      throw new CodedError("backend_crashed", message, { cause });
    }
  }

  async stop(how: "finish" | "now", { finishMs }: { finishMs: number } = this.#parts): Promise<void> {
    this.#isStopping = true;
    await this.#stop(how === "finish" ? { finishMs } : {});
  }

  /** Ends a process that is of no use, unless it exits first. Not an expected end. */
  giveUp(): Promise<void> {
    this.#givingUp ??= this.#giveUp();
    return this.#givingUp;
  }

  /** Like `giveUp`, without the wait. */
  kill(): Promise<void> {
    return this.#stop({});
  }

  /** Stops reading from it. */
  pause(): void {
    this.#child?.pause();
  }

  resume(): void {
    this.#child?.resume();
  }

  output(chunk: Buffer): void {
    this.#parts.reader.push(chunk);
  }

  outputEnd(): void {
    this.#parts.reader.end();
    void this.giveUp();
  }

  errorLine(raw: string): void {
    const line = stripVTControlCharacters(raw);
    if (line.trim() === "") return;
    this.#stderr.add(line);
    this.#parts.errorLine(line);
  }

  async #start(order: ChildOrder): Promise<void> {
    if (order.cwd !== undefined) await checkCwd(order.cwd);
    await this.spawn(order).started;
  }

  async #giveUp(): Promise<void> {
    // It ends when its output was read.
    if (this.#child?.files?.hasEnded === true) return void (await this.#child.done);
    if (this.#child !== undefined) await waitAtMost(EXIT_FOLLOWS_MS, this.#child.exit);
    await this.#stop({});
  }

  async #stop(options: { finishMs?: number }): Promise<void> {
    const { graceMs } = this.#parts;
    await this.#starting;
    await this.#child?.stop({ ...options, ...defined({ graceMs }) });
    // An unkillable process may still be running here, or the search for its descendants; do not wait for them.
    this.#end(this.#child?.exited ?? {});
  }

  #end(exit: ChildExit): void {
    if (this.#exit !== undefined) return;
    this.#parts.reader.end();
    this.#exit = exit;
    this.#parts.ended(exit, this.#isStopping);
  }
}
