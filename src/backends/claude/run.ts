// One live claude process: messages in, reports out, and exactly one end. What frames mean is translate.ts; the wire is
// base/claude-wire.
import { readBootSeconds } from "../../base/boot-clock.ts";
import type { ChildExit, ChildOrder } from "../../base/child.ts";
import { ClaudeClient } from "../../base/claude-wire/client.ts";
import { CodedError } from "../../base/coded-error.ts";
import { takeSnapshot } from "../../base/descendants.ts";
import { formatCrash, formatExit, formatTail } from "../../base/exit-message.ts";
import type { JsonObject } from "../../base/json.ts";
import type { LineAside } from "../../base/json-lines.ts";
import type { FoundRun } from "../../base/runs/adopt.ts";
import { describeRun } from "../../base/runs/description.ts";
import type { RunMark } from "../../base/runs/mark.ts";
import type { RunFiles } from "../../base/runs/run-files.ts";
import { defined } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Offers, SettingsChange } from "../../protocol/settings.ts";
import { Backpressure } from "../backpressure.ts";
import { SnapshotKeeper } from "../keeper.ts";
import type { Ask, Rewound, Run, RunTraces, SendAbout, ToolOutcome } from "../types.ts";
import { adjustClaude, readClaudeIntro, toClaudeOffers } from "./adjust.ts";
import { askUsage } from "./ask-usage.ts";
import { isAuthFailure } from "./auth-failure.ts";
import { isBusy } from "./background.ts";
import { toMessageId } from "./message-ids.ts";
import { killOrphans } from "./orphans.ts";
import { Pending } from "./pending.ts";
import { rewindTurns } from "./rewind.ts";
import type { ClaudeRunParts, ClaudeSnapshot } from "./run-parts.ts";
import { type ClaudeReport, isTurnActive } from "./state.ts";
import { cancelSteers, noteSteer, toSteerId } from "./steers.ts";
import { reportAuthFailure } from "./system-frames.ts";
import { SERVER_NAME, ToolServer } from "./tool-server.ts";
import { translate } from "./translate.ts";
import { flushHeld, noteSent } from "./turns.ts";
import { toUserLine, tryUserLine } from "./user-line.ts";

const READY_LIMIT_MS = 30_000;
const SETTING_LIMIT_MS = 5_000;
/** Frames without which a turn never ends. */
const VITAL = new Set<unknown>(["result", "control_request"]);

export class ClaudeRun implements Run {
  readonly #parts: ClaudeRunParts;
  readonly #client: ClaudeClient;
  readonly #pressure: Backpressure;
  readonly #pending: Pending;
  readonly #tools: ToolServer | undefined;
  /** Reports held back while `start` may still fail; undefined afterwards. */
  #early: Array<() => void> | undefined = [];
  #turnOver: Array<() => void> = [];
  #turnSinceS = 0;
  /** Why we ended it. */
  #fault: string | undefined;
  #keeper: SnapshotKeeper | undefined;
  /** Its models and commands. */
  #intro: JsonObject = {};

  constructor(parts: ClaudeRunParts) {
    this.#parts = parts;
    this.#client = new ClaudeClient({
      name: "blemees",
      maxLineBytes: parts.maxLineBytes,
      limitName: "max_line_bytes",
      frame: (frame) => this.#takeFrame(frame),
      skipped: (size, reason, aside) => this.#reportSkipped(size, reason, aside),
      request: (request) => {
        if (this.#tools?.take(request) !== true) this.#pending.take(request);
      },
      errorLine: (line) => this.#emit(() => parts.sink.stderr(line)),
      ended: (exit, expected) => this.#end(exit, expected),
      requestCount: parts.before?.requestCount,
    });
    this.#pressure = new Backpressure(this.#client.process);
    const asks = {
      control: this.#client.control,
      place: parts.place,
      ask: (ask: Ask) => this.#emit(() => parts.sink.ask(ask)),
      withdrawn: (id: string, reason: string) => this.#emit(() => parts.sink.withdrawn(id, reason)),
    };
    this.#pending = new Pending(asks, parts.before?.pending);
    if (parts.tools === undefined) return;
    this.#tools = new ToolServer({
      ...asks,
      tools: parts.tools,
      called: (call) => this.#emit(() => parts.sink.toolCalled?.(call)),
    });
  }

  get keeper(): SnapshotKeeper | undefined {
    return this.#keeper;
  }

  get isBusy(): boolean {
    return isBusy(this.#parts.state);
  }

  get canSteer(): boolean {
    return this.#parts.state.hasLifecycle === true;
  }

  get pid(): number | undefined {
    return this.#client.process.child?.pid;
  }

  get traces(): RunTraces {
    const { child } = this.#client.process;
    return { markers: child === undefined ? [] : [child.runId], isShared: false };
  }

  /** Resolves when claude is ready for a message; rejects with its stderr if it ends first. */
  async start(order: ChildOrder): Promise<void> {
    await this.#client.start(order);
    if (this.#parts.speaksControl) {
      const servers = this.#tools === undefined ? {} : { sdkMcpServers: [SERVER_NAME] };
      const answer = await this.#client.initialize(servers, READY_LIMIT_MS);
      if (answer?.ok === true) this.#intro = readClaudeIntro(answer.response);
      const { hasEnded, lastLines, exit } = this.#client.process;
      if (hasEnded) {
        const reason = formatTail(lastLines) || formatExit(exit);
        throw new CodedError("spawn_failed", `claude did not start: ${reason}`);
      }
    }
    await this.#keepRun(order.command);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const emit of early) emit();
  }

  /** Continues with the process of an earlier daemon; `replay` follows. */
  adopt(found: FoundRun, from: RunMark): RunFiles | undefined {
    const { kept } = this.#parts;
    this.#early = undefined;
    this.#intro = found.description.intro;
    const { files } = this.#client.process.adopt(found, from, (error) => kept?.unrecorded(error));
    this.#makeKeeper(files);
    return files;
  }

  async send(message: UserMessage, { turn_id, agoMs = 0 }: SendAbout = {}): Promise<void> {
    const { state, speaksControl } = this.#parts;
    const line = toUserLine(message, state.nativeId, speaksControl ? toMessageId(turn_id) : undefined);
    const { process } = this.#client;
    if (process.hasEnded) {
      throw new CodedError("backend_crashed", "claude has ended; resume the session");
    }
    noteSent(state);
    this.#turnSinceS = readBootSeconds() - agoMs / 1000;
    try {
      await process.write(line);
    } catch (cause) {
      // The end of the process ends the turn as well.
      this.#parts.log.warn("backend.stdin_closed", { backend: "claude", cause: String(cause) });
      await process.giveUp();
    }
  }

  steer(message: UserMessage, message_id: string): void {
    const { state } = this.#parts;
    const { process } = this.#client;
    const uuid = toSteerId(message_id);
    const line = uuid === undefined ? undefined : tryUserLine(message, state.nativeId, uuid);
    if (uuid === undefined || line === undefined || !isTurnActive(state) || process.hasEnded) {
      this.#report({ kind: "steered", message_id, how: "returned" });
      return;
    }
    noteSteer(state, uuid, message_id);
    process.write(line).catch(() => process.giveUp());
  }

  takeBack(message_id: string): void {
    const uuid = toSteerId(message_id);
    if (uuid !== undefined) cancelSteers(this.#client.control, [uuid]);
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    return this.#pending.answer(native_id, answer);
  }

  async returnTool(native_id: string, outcome: ToolOutcome): Promise<boolean> {
    return (await this.#tools?.give(native_id, outcome)) === true;
  }

  async adjust(change: SettingsChange): Promise<void> {
    if (!this.#parts.speaksControl)
      throw new CodedError("setting_refused", "this claude takes settings only when it starts");
    await adjustClaude((request) => this.#client.ask(request, SETTING_LIMIT_MS), change);
  }

  offers(): Offers {
    return toClaudeOffers(this.#intro);
  }

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  async rewind(turns: readonly string[]): Promise<Rewound> {
    const { state, speaksControl } = this.#parts;
    if (!speaksControl) return { reason: "this program is not a Claude Code that can forget turns" };
    // It is restarted afterwards.
    if (state.options.session_persistence === false)
      return { reason: "claude keeps no history of this session (session_persistence is off)" };
    return rewindTurns(this.#client.control, turns);
  }

  async readQuota(): Promise<boolean> {
    const { speaksControl, sink } = this.#parts;
    const notice = speaksControl ? await askUsage(this.#client.control) : undefined;
    if (notice !== undefined) this.#emit(() => sink.event(notice));
    return notice !== undefined;
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#pressure.resume();
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.#pending.close();
    await this.#client.process.stop(how);
  }

  async #keepRun(command: string): Promise<void> {
    const { kept } = this.#parts;
    const { child } = this.#client.process;
    if (kept === undefined || child?.files === undefined) return;
    await describeRun(child, { version: kept.version, backend: "claude", command, intro: this.#intro });
    this.#makeKeeper(child.files);
  }

  #makeKeeper(files: RunFiles | undefined): void {
    const { kept, state, speaksControl, where } = this.#parts;
    if (kept === undefined || files === undefined) return;
    const { control } = this.#client;
    this.#keeper = new SnapshotKeeper({
      files,
      ...kept,
      reportedOut: () => files.mark.out - this.#client.bytesFromFrame,
      isAtRest: () => !isTurnActive(state) && !state.steers?.size && this.#pending.isEmpty && control.isQuiet,
      state: (): ClaudeSnapshot => ({
        translator: state,
        pending: this.#pending.state,
        requestCount: control.count,
        speaksControl,
        ...defined({ where }),
      }),
    });
  }

  async #interrupt(): Promise<void> {
    const { state, speaksControl } = this.#parts;
    const { process } = this.#client;
    const { child } = process;
    const isTurn = isTurnActive(state);
    if (child === undefined || process.hasEnded || !(isTurn || isBusy(state))) return;
    child.resume();
    this.#cancelSteers();
    if (speaksControl) {
      const turnOver = new Promise<void>((resolve) => {
        this.#turnOver.push(resolve);
      });
      // Repeated for an earlier daemon, it must be sent at once, and a later turn may have started what is running now.
      const isRepeated = child.files?.isStarted === false;
      const before = isRepeated ? [] : await takeSnapshot(child.pid);
      const outcome = await this.#client.interrupt(turnOver);
      if (outcome.kind === "over" && !process.hasEnded) {
        if (isRepeated) return;
        await killOrphans({
          pid: child.pid,
          runId: child.runId,
          before,
          sinceS: this.#turnSinceS,
          untilS: readBootSeconds() + 0.02,
        });
        return;
      }
    }
    // Without a turn there is nothing to end, and the next turn needs this process.
    if (isTurn) await this.stop("now");
  }

  /** Reports an unreadable line with a notice, and ends claude if a turn may depend on it. */
  #reportSkipped(size: number, reason: string, aside: LineAside | undefined): void {
    this.#parts.log.warn("backend.unreadable_stdout", { backend: "claude", size, reason });
    const text = `a line of ${size} bytes from claude was skipped: ${reason}`;
    const notice = toNotice("claude", "unreadable_output", { level: "warn", text, data: aside?.data });
    this.#emit(() => this.#parts.sink.event(notice));
    if (aside === undefined) return;
    const type = aside.outline.get("type");
    const mayBeVital = VITAL.has(type) || (aside.isCut && type === undefined);
    if (!mayBeVital) return;
    this.#fault = type === undefined ? text : `${String(type)}: ${text}`;
    void this.#client.process.kill();
  }

  #takeFrame(frame: JsonObject): void {
    const { state, sink } = this.#parts;
    this.#pending.see(frame);
    // If its place in the output is not known, what came before is stored with it.
    if (frame["type"] === "result" && this.#early === undefined && this.#client.bytesFromFrame > 0)
      sink.ending?.();
    const wasBusy = isBusy(state);
    for (const report of translate(state, frame)) this.#report(report);
    if (!wasBusy || isBusy(state)) return;
    this.#emit(() => sink.calmed());
    if (!isTurnActive(state)) this.#endTurn();
  }

  #report(report: ClaudeReport): void {
    const { sink } = this.#parts;
    const result = report.kind === "event" && report.event.type === "agent.result" ? report.event : undefined;
    if (result?.subtype === "interrupted") {
      this.#pending.withdrawAll("the turn was interrupted");
      this.#tools?.withdrawAll();
    }
    this.#emit(() => {
      if (report.kind === "event") sink.event(report.event);
      else if (report.kind === "turn_started") sink.turnStarted();
      else if (report.kind === "auth_failed") sink.authFailed(report.message);
      else if (report.kind === "steered") sink.steered?.(report.message_id, report.how);
      else if (report.kind === "used") sink.used?.({ usage: report.usage });
      else sink.nativeId(report.id);
    });
    if (report.kind === "turn_started") this.#turnSinceS = readBootSeconds();
    if (result === undefined) return;
    this.#cancelSteers();
    this.#endTurn();
  }

  /** The turn is over or being interrupted: what it has not taken in would become a turn that nobody asked for. */
  #cancelSteers(): void {
    cancelSteers(this.#client.control, this.#parts.state.steers?.keys() ?? []);
  }

  #emit(emit: () => void): void {
    if (this.#early === undefined) emit();
    else this.#early.push(emit);
  }

  #endTurn(): void {
    this.#pressure.turnOver();
    const waiting = this.#turnOver;
    this.#turnOver = [];
    for (const resolve of waiting) resolve();
  }

  #end(exit: ChildExit, expected: boolean): void {
    const { state, sink } = this.#parts;
    const { lastLines } = this.#client.process;
    for (const report of flushHeld(state)) if (report.kind === "event") this.#report(report);
    this.#pending.close();
    if (!expected && isAuthFailure(lastLines)) {
      for (const report of reportAuthFailure(state)) this.#report(report);
    }
    const message = expected ? formatExit(exit) : (this.#fault ?? formatCrash(exit, lastLines));
    this.#emit(() => sink.ended({ expected, message, ...exit }));
    this.#endTurn();
  }
}
