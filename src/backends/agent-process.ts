// The process of an agent, from its start to an end that is told exactly once, however it comes: by itself, by us, or
// because one of its pipes is closed. What its output means is the backend's; how a process ends is base/child.ts.
import { stripVTControlCharacters } from "node:util";
import {
  type Child,
  type ChildExit,
  type ChildHandlers,
  type ChildOrder,
  startChild,
  within,
} from "../base/child.ts";
import { CodedError } from "../base/coded-error.ts";
import type { FrameReader } from "../base/json-lines.ts";
import { StderrTail } from "./last-words.ts";

export interface AgentProcessParts {
  /** For messages to people. */
  name: string;
  reader: FrameReader;
  /** How long it may take to go by itself when it is asked to finish. */
  finishMs: number;
  /** Between SIGTERM and SIGKILL, where it needs more than usual. */
  graceMs?: number;
  /** A line of stderr that says something. */
  errorLine(line: string): void;
  /** Called once, after all of its output. `expected`: we stopped it. */
  ended(exit: ChildExit, expected: boolean): void;
}

/** A closed pipe and the exit that explains it may come in either order. */
export const EXIT_FOLLOWS_MS = 500;

export class AgentProcess implements ChildHandlers {
  readonly #parts: AgentProcessParts;
  readonly #stderr = new StderrTail();
  #child: Child | undefined;
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

  /** How it ended; empty while it runs. */
  get exit(): ChildExit {
    return this.#exit ?? {};
  }

  /** Throws `spawn_failed`. */
  async start(order: ChildOrder): Promise<void> {
    const child = await startChild(order, this);
    this.#child = child;
    void child.done.then((exit) => this.#end(exit));
  }

  /** Rejects with `backend_crashed` when the agent no longer reads; its end follows then. */
  async write(line: string): Promise<void> {
    try {
      await this.#child?.write(line);
    } catch (cause) {
      void this.giveUp();
      const message = `${this.#parts.name} no longer reads its input; resume the session`;
      throw new CodedError("backend_crashed", message, { cause });
    }
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.#isStopping = true;
    await this.#stop(how === "finish" ? { finishMs: this.#parts.finishMs } : {});
  }

  /** It is of no use any more: if it does not go by itself, it is ended. Nobody wanted that, so it is not expected. */
  giveUp(): Promise<void> {
    this.#givingUp ??= this.#giveUp();
    return this.#givingUp;
  }

  /** The same at once. */
  kill(): Promise<void> {
    return this.#stop({});
  }

  /** Nothing is read from it meanwhile. */
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

  async #giveUp(): Promise<void> {
    if (this.#child !== undefined) await within(EXIT_FOLLOWS_MS, this.#child.exit);
    await this.#stop({});
  }

  async #stop(options: { finishMs?: number }): Promise<void> {
    const { graceMs } = this.#parts;
    await this.#child?.stop({ ...options, ...(graceMs === undefined ? {} : { graceMs }) });
    // Only an unkillable process has not ended by now; nobody should wait for it.
    this.#end({});
  }

  #end(exit: ChildExit): void {
    if (this.#exit !== undefined) return;
    this.#parts.reader.end();
    this.#exit = exit;
    this.#parts.ended(exit, this.#isStopping);
  }
}
