// One live claude process: lines in, reports out, and an end that is told exactly once. What frames mean is
// translate.ts; how a process starts and stops is base/child.ts.
import { uptime } from "node:os";
import { type Child, type ChildExit, type ChildHandlers, within } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { snapshot } from "../../base/descendants.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { Answer } from "../../protocol/requests.ts";
import { FrameReader } from "../frames.ts";
import { crashMessage, exitMessage, StderrTail } from "../last-words.ts";
import type { BackendSink, Run } from "../types.ts";
import { Control } from "./control.ts";
import { diedOfAuth } from "./death.ts";
import { killOrphans } from "./orphans.ts";
import { Pending } from "./pending.ts";
import type { Place } from "./requests.ts";
import { type ClaudeState, isTurnActive, type Report } from "./state.ts";
import { authFailed } from "./system-frames.ts";
import { translate } from "./translate.ts";
import { flushHeld, noteSent } from "./turns.ts";
import { userLine } from "./user-line.ts";

export interface RunParts {
  state: ClaudeState;
  sink: BackendSink;
  log: Log;
  maxLineBytes: number;
  speaksControl: boolean;
  /** Where claude works, when it may ask for permissions. */
  place: (() => Place) | undefined;
}

const WARM_LIMIT_MS = 30_000;
const ACK_LIMIT_MS = 500;
const RESULT_LIMIT_MS = 2000;
const FINISH_LIMIT_MS = 5000;
/** A closed pipe and the exit that explains it may come in either order. */
const EXIT_FOLLOWS_MS = 500;

export class ClaudeRun implements Run, ChildHandlers {
  readonly #parts: RunParts;
  readonly #control = new Control();
  readonly #stderr = new StderrTail();
  readonly #reader: FrameReader;
  readonly #pending: Pending;
  readonly #ended: Promise<void>;
  #child: Child | undefined;
  /** Told to nobody while `start` may still fail; undefined afterwards. */
  #early: Array<() => void> | undefined = [];
  #tellEnded: () => void = () => undefined;
  #turnOver: Array<() => void> = [];
  #turnSinceS = 0;
  #interrupting: Promise<void> | undefined;
  #isPaused = false;
  #isStopping = false;
  #hasEnded = false;
  #exit: ChildExit = {};

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#reader = new FrameReader(parts.maxLineBytes, {
      frame: (frame) => this.#frame(frame),
      skipped: (size, reason) => this.#skipped(size, reason),
    });
    this.#pending = new Pending({
      place: parts.place,
      ask: (ask) => this.#tell(() => parts.sink.ask(ask)),
      withdrawn: (id, reason) => this.#tell(() => parts.sink.withdrawn(id, reason)),
      write: async (line) => this.#child?.write(line),
    });
    this.#ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  attach(child: Child): void {
    this.#child = child;
    void child.done.then((exit) => this.#end(exit));
  }

  /** Resolves when claude is ready for a message; rejects with claude's own words when it went away instead. */
  async warm(): Promise<void> {
    if (this.#parts.speaksControl) {
      const { line, answer } = this.#control.request("initialize");
      // A write that fails says less than the exit behind it.
      void this.#child?.write(line).catch(() => undefined);
      await within(WARM_LIMIT_MS, Promise.race([answer, this.#ended]));
      if (this.#hasEnded) {
        const words = this.#stderr.lines.join("\n") || exitMessage(this.#exit);
        throw new CodedError("spawn_failed", `claude did not start: ${words}`);
      }
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const tell of early) tell();
  }

  async send(message: UserMessage): Promise<void> {
    const { state } = this.#parts;
    const line = userLine(message, state.nativeId);
    if (this.#hasEnded) throw new CodedError("backend_crashed", "claude has ended; resume the session");
    noteSent(state);
    this.#turnSinceS = uptime();
    try {
      await this.#child?.write(line);
    } catch (cause) {
      // The end that follows ends the turn as well.
      this.#parts.log.warn("backend.stdin_closed", { backend: "claude", cause: String(cause) });
      await this.#giveUp();
    }
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    return this.#pending.answer(native_id, answer);
  }

  interrupt(): Promise<void> {
    this.#interrupting ??= this.#interrupt().finally(() => {
      this.#interrupting = undefined;
      if (this.#isPaused) this.#child?.pause();
    });
    return this.#interrupting;
  }

  pause(): void {
    this.#isPaused = true;
    // The answer to an interrupt must get through, however slow the reader is.
    if (this.#interrupting === undefined) this.#child?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#child?.resume();
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.#isStopping = true;
    this.#pending.close();
    await this.#child?.stop(how === "finish" ? { finishMs: FINISH_LIMIT_MS } : {});
    // Only an unkillable process has not ended by now; nobody should wait for it.
    this.#end({});
  }

  output(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  outputEnd(): void {
    this.#reader.end();
    void this.#giveUp();
  }

  errorLine(line: string): void {
    if (line.trim() === "") return;
    this.#stderr.add(line);
    this.#tell(() => this.#parts.sink.stderr(line));
  }

  async #interrupt(): Promise<void> {
    const { state, speaksControl } = this.#parts;
    const child = this.#child;
    if (child === undefined || this.#hasEnded || !isTurnActive(state)) return;
    child.resume();
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      this.#turnOver.push(resolve);
    }).then(() => {
      isOver = true;
    });
    if (speaksControl) {
      const before = await snapshot(child.pid);
      const { line, answer } = this.#control.request("interrupt");
      let isAcked = false;
      const acked = answer.then(({ ok }) => {
        isAcked = ok;
      });
      void child.write(line).catch(() => undefined);
      await within(ACK_LIMIT_MS, Promise.race([acked, over]));
      if (isAcked) await within(RESULT_LIMIT_MS, over);
      if (isOver && !this.#hasEnded) {
        await killOrphans({
          pid: child.pid,
          runId: child.runId,
          before,
          sinceS: this.#turnSinceS,
          untilS: uptime() + 0.02,
        });
        return;
      }
    }
    await this.stop("now");
  }

  /** One of its pipes is closed, so it is of no use any more: if it does not go by itself, it is ended. */
  async #giveUp(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    await within(EXIT_FOLLOWS_MS, child.exit);
    await child.stop();
    this.#end({});
  }

  /** What cannot be read is not shown, but nobody loses it without being told. */
  #skipped(size: number, reason: string): void {
    this.#parts.log.warn("backend.unreadable_stdout", { backend: "claude", size, reason });
    const text = `a line of ${size} bytes from claude was skipped: ${reason}`;
    const notice = {
      type: "agent.notice",
      backend: "claude",
      level: "warn",
      category: "unreadable_output",
    } as const;
    this.#tell(() => this.#parts.sink.event({ ...notice, text }));
  }

  #frame(frame: JsonObject): void {
    if (frame["type"] === "control_response") this.#control.settle(frame);
    else if (frame["type"] === "control_request") this.#pending.take(frame);
    else if (frame["type"] === "control_cancel_request") this.#pending.cancel(frame);
    else {
      this.#pending.see(frame);
      for (const report of translate(this.#parts.state, frame)) this.#report(report);
    }
  }

  #report(report: Report): void {
    const { sink } = this.#parts;
    const result = report.kind === "event" && report.event.type === "agent.result" ? report.event : undefined;
    if (result?.subtype === "interrupted") this.#pending.withdrawAll("the turn was interrupted");
    this.#tell(() => {
      if (report.kind === "event") sink.event(report.event);
      else if (report.kind === "turn_started") sink.turnStarted();
      else if (report.kind === "auth_failed") sink.authFailed(report.message);
      else sink.nativeId(report.id);
    });
    if (report.kind === "turn_started") this.#turnSinceS = uptime();
    if (result !== undefined) this.#endTurn();
  }

  #tell(tell: () => void): void {
    if (this.#early === undefined) tell();
    else this.#early.push(tell);
  }

  #endTurn(): void {
    const waiting = this.#turnOver;
    this.#turnOver = [];
    for (const resolve of waiting) resolve();
  }

  #end(exit: ChildExit): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#exit = exit;
    const { state, sink } = this.#parts;
    this.#reader.end();
    for (const report of flushHeld(state)) if (report.kind === "event") this.#report(report);
    this.#control.close();
    this.#pending.close();
    const expected = this.#isStopping;
    if (!expected && diedOfAuth(this.#stderr.lines)) {
      for (const report of authFailed(state)) this.#report(report);
    }
    const message = expected ? exitMessage(exit) : crashMessage(exit, this.#stderr.lines);
    this.#tell(() => sink.ended({ expected, message, ...exit }));
    this.#endTurn();
    this.#tellEnded();
  }
}
