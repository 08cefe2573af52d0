// One Codex session: a thread in an app-server, which may serve others. Messages in, reports out, exactly one result
// per turn, and its end reported once. translate.ts interprets messages; process.ts is the process.

import { waitAtMost } from "../../../base/child.ts";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import { RpcError } from "../../../base/jsonrpc.ts";
import { asObject, asString, defined } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import type { AgentEvent, NoticeEvent, ResultEvent } from "../../../protocol/events.ts";
import { toFailureCode } from "../../../protocol/failures.ts";
import type { Answer } from "../../../protocol/requests.ts";
import type { Offers, SettingsChange } from "../../../protocol/settings.ts";
import { Backpressure } from "../../backpressure.ts";
import { Inbox } from "../../inbox.ts";
import type { SnapshotKeeper } from "../../keeper.ts";
import { RunEnd } from "../../run-end.ts";
import { toTraces } from "../../traces.ts";
import type { Ended, Rewound, Run, RunTraces, SendAbout, Steered, ToolOutcome } from "../../types.ts";
import { adjustThread, readOffers } from "./adjust.ts";
import { toNativeAnswer, toToolResult } from "./answers.ts";
import { DeadTurns } from "./dead-turns.ts";
import { toInput } from "./input.ts";
import { askToStop, isAnswered, leaveThreads, listRunning, listTurns, tidyUp } from "./interrupt.ts";
import { keepThread, type ThreadRunParts } from "./keep.ts";
import type { AppServer, AppServerResident } from "./process.ts";
import { readQuota } from "./quota.ts";
import { findPendingAsk, noteAnswered, refuseAsks, takeRequest } from "./requests.ts";
import { askThread, rewindThread } from "./rewind.ts";
import type { Incoming } from "./router.ts";
import type { CodexPendingAsk, CodexReport } from "./state.ts";
import { CodexSteers } from "./steers.ts";
import { learnFromThread, takeNewThreads } from "./subagents.ts";
import { closeOpenItems, onStarted, translate } from "./translate.ts";
import { busyError, CodexTurn } from "./turn.ts";

const RESULT_LIMIT_MS = 2000;
const PING_LIMIT_MS = 2000;
const FINISH_LIMIT_MS = 5000;
const INVALID_PARAMS = -32602;
const TOO_LATE = { code: -32600, message: "the turn was interrupted" };

export class CodexRun implements Run, AppServerResident {
  readonly #parts: ThreadRunParts;
  readonly #server: AppServer;
  readonly #inbox: Inbox<Incoming>;
  readonly #pressure: Backpressure;
  readonly #end: RunEnd;
  readonly #keeper: SnapshotKeeper | undefined;
  readonly #dead: DeadTurns;
  readonly #steers: CodexSteers;
  readonly canSteer = true;
  #turn: CodexTurn | undefined;

  constructor(parts: ThreadRunParts) {
    this.#parts = parts;
    this.#server = parts.lease.server;
    this.#dead = new DeadTurns(parts.dead);
    const { lane, state, sink } = parts;
    const steered = (message_id: string, how: Steered) => sink.steered?.(message_id, how);
    this.#steers = new CodexSteers({ lane, threadId: state.threadId, steered });
    this.#inbox = new Inbox({
      deliver: (message) => this.#handle(message),
      place: () => this.#server.readBefore,
      full: (isFull) => (isFull ? this.#server.hold(this) : this.#server.release(this)),
    });
    this.#pressure = new Backpressure(this.#inbox);
    this.#end = new RunEnd(parts);
    this.#keeper = keepThread(parts, {
      inbox: this.#inbox,
      isIdle: () => !this.isBusy && !this.#dead.hasUnnamed,
      dead: () => this.#dead.ids,
    });
  }

  get pid(): number | undefined {
    return this.#server.pid;
  }

  get traces(): RunTraces {
    return toTraces(this.#parts);
  }

  get keeper(): SnapshotKeeper | undefined {
    return this.#keeper;
  }

  get isBusy(): boolean {
    // Turns it does not stop when asked no longer count as work.
    const running = listRunning(this.#parts.state).filter(({ turnId }) => !this.#dead.has(turnId));
    return this.#turn !== undefined || running.length > 0;
  }

  async send(message: UserMessage, { turn_id, agoMs = 0 }: SendAbout = {}): Promise<void> {
    const input = toInput(message);
    if (this.#end.hasBegun) throw new CodedError("backend_crashed", "codex has ended; resume the session");
    if (this.#turn !== undefined) throw busyError();
    const turn = new CodexTurn(undefined, agoMs);
    this.#turn = turn;
    try {
      await this.#leaveDeadTurn();
      await this.#startTurn(turn, input, turn_id);
    } catch (error) {
      if (this.#end.hasBegun || turn.isAbandoned) return;
      if (error instanceof RpcError && error.code === INVALID_PARAMS) {
        this.#endTurn(turn);
        throw new CodedError("invalid_message", `/message: ${error.message}`, { cause: error });
      }
      this.#parts.log.warn("codex.turn_refused", {
        code: error instanceof RpcError ? error.code : undefined,
      });
      this.#tellResult(turn, "error", {
        code: toFailureCode({ words: toMessage(error) }),
        message: toMessage(error),
      });
    }
  }

  steer(message: UserMessage, message_id: string): void {
    this.#steers.add(this.#end.hasBegun ? undefined : this.#turn, message, message_id);
  }

  async adjust(change: SettingsChange, options: Record<string, unknown>): Promise<void> {
    adjustThread(this.#parts, change, options);
  }

  readonly offers = (): Promise<Offers> => readOffers(this.#parts);

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    return this.#respond(native_id, (ask) => toNativeAnswer(ask, answer));
  }

  returnTool(native_id: string, outcome: ToolOutcome): Promise<boolean> {
    return this.#respond(native_id, () => toToolResult(outcome));
  }

  rewind(turns: readonly string[]): Promise<Rewound> {
    return rewindThread(this.#parts, turns);
  }

  readQuota(): Promise<boolean> {
    return readQuota(this.#parts);
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#pressure.resume();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#end.stop(how, () => this.#stop(how));
  }

  deliver(message: Incoming): void {
    this.#inbox.push(message, message.size);
  }

  /** In a replay, from the place of its snapshot on. */
  reenter(): void {
    const { router } = this.#server;
    this.#server.moveIn(this);
    for (const threadId of this.#parts.state.threads.keys()) {
      router.drop(threadId);
      router.claim(threadId, this);
    }
  }

  /** In a replay: what it did when its time was up. */
  repeat(name: string, [isAlone]: readonly unknown[]): void {
    if (this.#turn === undefined) return;
    if (name === "abandon") void this.#abandon(this.#turn, isAlone === true);
    else if (name === "give_up") this.#giveUp(this.#turn);
  }

  adopt(thread: JsonObject): void {
    this.#keeper?.touch();
    learnFromThread(this.#parts.state, thread);
    this.#claimNewThreads();
  }

  stderr(line: string): void {
    this.#parts.sink.stderr(line);
  }

  notice(event: NoticeEvent): void {
    this.#parts.sink.event(event);
  }

  processEnded(why: Ended): void {
    this.#inbox.resume();
    this.#tellEnd({ ...why, expected: why.expected || this.#end.isWanted });
  }

  /** Codex's description of the thread; before any message of it. */
  introduce(result: unknown): void {
    this.#reports(onStarted(this.#parts.state, result));
  }

  #handle(message: Incoming): void {
    const { state } = this.#parts;
    if (this.#end.hasBegun) return;
    this.#keeper?.touch();
    const { method, params } = message;
    const turnId = asString(params["turnId"]) ?? asString(asObject(params["turn"])["id"]) ?? "";
    if (method === "turn/started" && params["threadId"] === state.threadId) this.#dead.nameOldest(turnId);
    const isLate = this.#dead.has(turnId);
    this.#steers.see(message);
    if (message.kind === "request") takeRequest(this.#parts, message, isLate ? TOO_LATE : undefined);
    else {
      // The state also follows a dead turn, but nothing is emitted.
      const reports = translate(state, message);
      this.#reports(isLate ? reports.filter(({ kind }) => kind === "withdrawn") : reports);
      if (method === "turn/completed") this.#dead.bury(turnId);
    }
    this.#claimNewThreads();
  }

  #claimNewThreads(): void {
    for (const threadId of takeNewThreads(this.#parts.state)) this.#server.router.claim(threadId, this);
  }

  async #respond(native_id: string, toResult: (ask: CodexPendingAsk) => unknown): Promise<boolean> {
    const ask = findPendingAsk(this.#parts.state, native_id);
    if (ask === undefined || this.#end.hasBegun) return false;
    const result = toResult(ask);
    noteAnswered(this.#parts.state, native_id);
    await this.#server.respond(ask.id, result);
    return true;
  }

  #reports(reports: readonly CodexReport[]): void {
    for (const report of reports) this.#report(report);
  }

  #report(report: CodexReport): void {
    const { sink, log, retryLimitMs } = this.#parts;
    const turn = this.#turn;
    if (report.kind === "event") this.#event(report.event);
    else if (report.kind === "used") sink.used?.({ usage: report.usage });
    else if (report.kind === "turn_started") this.#turnStarted(report.turnId);
    else if (report.kind === "turn_ended") {
      if (turn !== undefined) this.#endTurn(turn);
    } else if (report.kind === "auth_failed") sink.authFailed(report.message);
    else if (report.kind === "withdrawn") sink.withdrawn(report.native_id, report.reason);
    else if (report.kind === "retrying") {
      turn?.retrying(report.message, retryLimitMs, () => {
        this.#keeper?.record("give_up", [], () => undefined);
        this.#giveUp(turn);
      });
    } else if (report.kind === "progress") turn?.stopClock();
    else log.info("codex.thread_closed");
  }

  #giveUp(turn: CodexTurn): void {
    turn.giveUp(this.#parts.retryLimitMs);
    void this.interrupt();
  }

  #event(event: AgentEvent): void {
    const turn = this.#turn;
    const judged = event.type === "agent.result" ? turn?.judge(event) : undefined;
    if (judged !== undefined && turn !== undefined) this.#endTurn(turn);
    this.#parts.sink.event(judged ?? event);
  }

  #turnStarted(turnId: string): void {
    if (this.#turn === undefined) {
      this.#turn = new CodexTurn(turnId);
      this.#parts.sink.turnStarted();
    } else {
      this.#turn.id ??= turnId;
      this.#steers.send(this.#turn);
    }
  }

  async #startTurn(turn: CodexTurn, input: JsonObject[], turn_id: string | undefined): Promise<void> {
    const name = defined({ clientUserMessageId: turn_id });
    const result = await askThread(this.#parts, "turn/start", { input, ...this.#parts.turnParams, ...name });
    const id = asString(asObject(asObject(result)["turn"])["id"]);
    if (id === undefined) return;
    this.#dead.name(turn, id);
    if (this.#turn === turn) this.#steers.send(turn);
  }

  /** A message to a thread with a running turn would be added to that turn. */
  async #leaveDeadTurn(): Promise<void> {
    const { threads, threadId } = this.#parts.state;
    const turnId = threads.get(threadId)?.turnId ?? "";
    const dead = this.#dead.find(turnId);
    if (dead !== undefined) {
      const running = () => (this.#dead.has(turnId) ? [{ threadId, turnId }] : []);
      await askToStop(this.#parts.lane, running, () => !this.#server.isAlive);
      await waitAtMost(RESULT_LIMIT_MS, Promise.race([dead.over, this.#end.gone]));
    }
    if (!this.#dead.has(turnId) && !this.#dead.hasUnnamed) return;
    throw new Error("codex is still running the interrupted turn; close the session and resume it");
  }

  async #interrupt(): Promise<void> {
    const turn = this.#turn;
    const isRepeated = this.#keeper?.isRepeating === true;
    if (turn === undefined || this.#end.hasBegun) return;
    this.#inbox.resume();
    // It may end on its own at this moment: then the next one is not meant.
    const isOver = () => this.#turn !== turn || !this.#server.isAlive;
    const running = () => listTurns(this.#parts.state, turn.id, this.#turn === turn);
    const asked = askToStop(this.#parts.lane, running, isOver);
    const agreed = await Promise.race([asked, turn.over.then(() => new Set<string>())]);
    if (agreed.has(turn.id ?? "")) await waitAtMost(RESULT_LIMIT_MS, turn.over);
    if (this.#turn === turn && !this.#end.hasBegun) {
      // With what decides about the process: in a replay, others may not have entered yet.
      const isAlone = this.#server.residents.size === 1;
      this.#keeper?.record("abandon", [isAlone], () => undefined);
      await this.#abandon(turn, isAlone);
    }
    if (this.#end.hasBegun) return this.#end.gone;
    const { state, marker, lane } = this.#parts;
    // After a repeated one, a later turn may have started what is running now.
    const leftovers = isRepeated ? undefined : { marker, sinceS: turn.sinceS };
    await tidyUp(lane, [...state.threads.keys()], leftovers);
  }

  /** It does not obey. Its turn ends now; further output of it is ignored. */
  async #abandon(turn: CodexTurn, isAlone: boolean): Promise<void> {
    turn.isAbandoned = true;
    this.#dead.add(turn);
    for (const { turnId } of listRunning(this.#parts.state)) this.#dead.addId(turnId);
    // A late approval could still run the command.
    for (const turnId of this.#dead.ids) this.#reports(refuseAsks(this.#parts, turnId, TOO_LATE));
    this.#reports(closeOpenItems(this.#parts.state));
    this.#tellResult(turn, "interrupted");
    this.#end.isWanted = true;
    if (!(await isAnswered(this.#server.request("thread/loaded/list", {}, PING_LIMIT_MS)))) {
      await this.#server.kill("codex app-server stopped responding and was killed");
    } else if (isAlone) {
      await this.#server.kill("codex did not end the interrupted turn and was killed");
    } else this.#end.isWanted = this.#end.isStopping;
  }

  #tellResult(turn: CodexTurn, subtype: ResultEvent["subtype"], error?: ResultEvent["error"]): void {
    const failure = defined({ error });
    const judged = turn.judge({ type: "agent.result", backend: "codex", subtype, ...failure });
    this.#endTurn(turn);
    this.#parts.sink.event(judged);
  }

  #endTurn(turn: CodexTurn): void {
    if (this.#turn === turn) {
      this.#turn = undefined;
      this.#steers.endTurn();
    }
    this.#pressure.turnOver();
    turn.end();
  }

  async #stop(how: "finish" | "now"): Promise<void> {
    const { lease } = this.#parts;
    if (how === "finish" && this.#turn !== undefined) {
      await waitAtMost(FINISH_LIMIT_MS, Promise.race([this.#turn.over, this.#end.hurried]));
    }
    // A process of its own takes everything down with it.
    if (!this.#end.hasBegun && !lease.isOwn) await this.#leave();
    this.#server.moveOut(this);
    this.#keeper?.leave();
    await lease.release(how);
    this.#tellEnd({ expected: true, message: "closed" });
  }

  async #leave(): Promise<void> {
    const { state, marker, lane } = this.#parts;
    const turn = this.#turn;
    const running = () =>
      turn === undefined
        ? listRunning(this.#parts.state)
        : listTurns(this.#parts.state, turn.id, this.#turn === turn);
    if (this.isBusy) {
      const asked = askToStop(lane, running, () => !this.#server.isAlive);
      await Promise.race([asked, turn?.over ?? this.#end.gone]);
    }
    await leaveThreads(lane, [...state.threads.keys()], marker);
  }

  #tellEnd(why: Ended): void {
    if (this.#end.hasBegun) return;
    this.#reports(closeOpenItems(this.#parts.state));
    this.#end.tell(why, () => {
      if (this.#turn !== undefined) this.#endTurn(this.#turn);
    });
  }
}
