// One live claude process: lines in, reports out, and an end that is told exactly once. What frames mean is
// translate.ts; how a process starts and ends is agent-process.ts.
import { uptime } from "node:os";
import { type ChildExit, type ChildOrder, within } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { snapshot } from "../../base/descendants.ts";
import type { JsonObject } from "../../base/json.ts";
import { FrameReader, type LineAside } from "../../base/json-lines.ts";
import type { Log } from "../../base/log.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { Answer } from "../../protocol/requests.ts";
import { AgentProcess } from "../agent-process.ts";
import { Backpressure } from "../backpressure.ts";
import { crashMessage, exitMessage, lastWords } from "../last-words.ts";
import type { BackendSink, Run } from "../types.ts";
import { isBusy } from "./background.ts";
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
/** Without these a turn never ends. */
const VITAL = new Set<unknown>(["result", "control_request"]);

export class ClaudeRun implements Run {
  readonly #parts: RunParts;
  readonly #control = new Control();
  readonly #process: AgentProcess;
  readonly #pressure: Backpressure;
  readonly #pending: Pending;
  /** Told to nobody while `start` may still fail; undefined afterwards. */
  #early: Array<() => void> | undefined = [];
  #turnOver: Array<() => void> = [];
  #turnSinceS = 0;
  /** Why we gave it up. */
  #fault: string | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#process = new AgentProcess({
      name: "claude",
      reader: new FrameReader(parts.maxLineBytes, {
        limitName: "max_line_bytes",
        frame: (frame) => this.#frame(frame),
        skipped: (size, reason, aside) => this.#skipped(size, reason, aside),
      }),
      finishMs: FINISH_LIMIT_MS,
      errorLine: (line) => this.#tell(() => parts.sink.stderr(line)),
      ended: (exit, expected) => this.#end(exit, expected),
    });
    this.#pressure = new Backpressure(this.#process);
    this.#pending = new Pending({
      place: parts.place,
      ask: (ask) => this.#tell(() => parts.sink.ask(ask)),
      withdrawn: (id, reason) => this.#tell(() => parts.sink.withdrawn(id, reason)),
      write: (line) => this.#process.write(line),
    });
  }

  get isBusy(): boolean {
    return isBusy(this.#parts.state);
  }

  get pid(): number | undefined {
    return this.#process.child?.pid;
  }

  /** Resolves when claude is ready for a message; rejects with claude's own words when it went away instead. */
  async start(order: ChildOrder): Promise<void> {
    await this.#process.start(order);
    if (this.#parts.speaksControl) {
      const { line, answer } = this.#control.request("initialize");
      // A write that fails says less than the exit behind it.
      void this.#process.write(line).catch(() => undefined);
      await within(WARM_LIMIT_MS, answer);
      const { hasEnded, lastLines, exit } = this.#process;
      if (hasEnded) {
        const words = lastWords(lastLines) || exitMessage(exit);
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
    if (this.#process.hasEnded) {
      throw new CodedError("backend_crashed", "claude has ended; resume the session");
    }
    noteSent(state);
    this.#turnSinceS = uptime();
    try {
      await this.#process.write(line);
    } catch (cause) {
      // The end that follows ends the turn as well.
      this.#parts.log.warn("backend.stdin_closed", { backend: "claude", cause: String(cause) });
      await this.#process.giveUp();
    }
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    return this.#pending.answer(native_id, answer);
  }

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#pressure.resume();
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.#pending.close();
    await this.#process.stop(how);
  }

  async #interrupt(): Promise<void> {
    const { state, speaksControl } = this.#parts;
    const { child, hasEnded } = this.#process;
    const isTurn = isTurnActive(state);
    if (child === undefined || hasEnded || !(isTurn || isBusy(state))) return;
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
      void this.#process.write(line).catch(() => undefined);
      await within(ACK_LIMIT_MS, Promise.race([acked, over]));
      if (isAcked) await within(RESULT_LIMIT_MS, over);
      if (isOver && !this.#process.hasEnded) {
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
    // Behind a turn there is none to end, and the next one needs this process.
    if (isTurn) await this.stop("now");
  }

  /** What cannot be read is not shown, but nobody loses it without being told. */
  #skipped(size: number, reason: string, aside: LineAside | undefined): void {
    this.#parts.log.warn("backend.unreadable_stdout", { backend: "claude", size, reason });
    const text = `a line of ${size} bytes from claude was skipped: ${reason}`;
    const notice = toNotice("claude", "unreadable_output", { level: "warn", text, data: aside?.data });
    this.#tell(() => this.#parts.sink.event(notice));
    if (aside === undefined) return;
    const type = aside.outline.get("type");
    const mayBeVital = VITAL.has(type) || (aside.isCut && type === undefined);
    if (!mayBeVital) return;
    this.#fault = type === undefined ? text : `${String(type)}: ${text}`;
    void this.#process.kill();
  }

  #frame(frame: JsonObject): void {
    if (frame["type"] === "control_response") this.#control.settle(frame);
    else if (frame["type"] === "control_request") this.#pending.take(frame);
    else if (frame["type"] === "control_cancel_request") this.#pending.cancel(frame);
    else {
      const { state, sink } = this.#parts;
      this.#pending.see(frame);
      const wasBusy = isBusy(state);
      for (const report of translate(state, frame)) this.#report(report);
      if (!wasBusy || isBusy(state)) return;
      this.#tell(() => sink.calmed());
      if (!isTurnActive(state)) this.#endTurn();
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

  #end(exit: ChildExit, expected: boolean): void {
    const { state, sink } = this.#parts;
    const { lastLines } = this.#process;
    for (const report of flushHeld(state)) if (report.kind === "event") this.#report(report);
    this.#control.close();
    this.#pending.close();
    if (!expected && diedOfAuth(lastLines)) {
      for (const report of authFailed(state)) this.#report(report);
    }
    const message = expected ? exitMessage(exit) : (this.#fault ?? crashMessage(exit, lastLines));
    this.#tell(() => sink.ended({ expected, message, ...exit }));
    this.#endTurn();
  }
}
