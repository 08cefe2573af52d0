// One session of an ACP agent, in a process that may serve others. Frames in, reports out, exactly one result per turn,
// and its end reported once. translate.ts interprets frames; process.ts is the process.
import { waitAtMost } from "../../base/child.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { type RpcAnswer, RpcError } from "../../base/jsonrpc.ts";
import { asObject, defined } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { AgentEvent, NoticeEvent, ResultEvent } from "../../protocol/events.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Offers, SettingsChange } from "../../protocol/settings.ts";
import { Backpressure } from "../backpressure.ts";
import { Inbox } from "../inbox.ts";
import type { SnapshotKeeper } from "../keeper.ts";
import { killLeftovers } from "../leftovers.ts";
import { RunEnd } from "../run-end.ts";
import { toTraces } from "../traces.ts";
import type { Ended, Run, RunTraces, SendAbout } from "../types.ts";
import { adjustAcp, toAcpOffers } from "./adjust.ts";
import { toPrompt } from "./input.ts";
import { introduce } from "./intro.ts";
import { type AcpRunParts, keepSession } from "./keep.ts";
import { type Opened, openElsewhere } from "./open.ts";
import { type AcpProcess, type AcpResident, canSession, isResponsive } from "./process.ts";
import { toReply } from "./requests.ts";
import { reportStall, StallWatch } from "./stall.ts";
import { type AcpReport, reportNotice } from "./state.ts";
import { AcpSteers, canSteer } from "./steers.ts";
import { findAskedTools, isToolRunning, openCommands } from "./tools.ts";
import { abandonTurn, beginTurn, cancelTurn, type Frame, translate } from "./translate.ts";
import { AcpTurn, busyError } from "./turn.ts";

/** Frames to handle, with the turn each answers; or what is to be done after them. */
type Item = { frame: Frame; turn?: AcpTurn } | { act(): void };

const FINISH_LIMIT_MS = 5000;
/** After session/close the prompt is answered immediately. */
const LAST_WORD_MS = 500;

export class AcpRun implements Run, AcpResident {
  readonly #parts: AcpRunParts;
  readonly #server: AcpProcess;
  readonly #inbox: Inbox<Item>;
  readonly #pressure: Backpressure;
  readonly #end: RunEnd;
  readonly #stall: StallWatch;
  readonly #keeper: SnapshotKeeper | undefined;
  readonly #steers: AcpSteers;
  #turn: AcpTurn | undefined;
  /** The agent has closed the session; the next message reopens it. */
  #isClosedThere: boolean;

  constructor(parts: AcpRunParts) {
    this.#parts = parts;
    this.#server = parts.lease.server;
    this.#isClosedThere = parts.isClosedThere === true;
    this.#inbox = new Inbox({
      deliver: (item) => this.#handle(item),
      place: () => this.#server.readBefore,
      full: (isFull) => (isFull ? this.#server.hold(this) : this.#server.release(this)),
    });
    this.#pressure = new Backpressure(this.#inbox);
    this.#end = new RunEnd(parts);
    this.#steers = new AcpSteers(parts);
    this.#keeper = keepSession(parts, {
      inbox: this.#inbox,
      isIdle: () => this.#turn === undefined,
      isClosedThere: () => this.#isClosedThere,
    });
    this.#stall = new StallWatch({
      limitMs: parts.stallMs,
      isExcused: () => this.#pressure.isPaused || parts.state.asks.size > 0 || isToolRunning(parts.state),
      tell: (silentMs) => this.#report(reportStall(parts, silentMs)),
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
    return this.#turn !== undefined;
  }

  async send(message: UserMessage, { agoMs = 0 }: SendAbout = {}): Promise<void> {
    const { name, state, lane, userEcho } = this.#parts;
    const capabilities = asObject(asObject(state.agent["agentCapabilities"])["promptCapabilities"]);
    const prompt = toPrompt(message, capabilities, name);
    if (this.#end.hasBegun) throw new CodedError("backend_crashed", `${name} has ended; resume the session`);
    if (this.#turn !== undefined) throw busyError(name);
    const turn = new AcpTurn(agoMs);
    this.#turn = turn;
    try {
      if (this.#isClosedThere) await this.#reopen();
    } catch (error) {
      const failure = {
        code: error instanceof CodedError ? error.code : "agent_error",
        message: toMessage(error),
      };
      if (this.#turn === turn && !this.#end.hasBegun) this.#tellResult(turn, "error", failure);
      return;
    }
    // It may have been interrupted meanwhile.
    if (this.#turn !== turn || this.#end.hasBegun) return;
    this.#reports(beginTurn(state));
    if (userEcho) {
      const { content } = message;
      const echo = { role: "user" as const, content };
      this.#parts.sink.event({ type: "agent.user_echo", backend: name, message: echo });
    }
    turn.isSent = true;
    this.#stall.begin();
    const params = { sessionId: state.sessionId, prompt };
    lane.call("session/prompt", params, (answer, size) => this.#onResponse(turn, answer, size));
  }

  get canSteer(): boolean {
    return canSteer(this.#parts);
  }

  steer(message: UserMessage, message_id: string): void {
    this.#steers.add(message, message_id, (act, size) => this.#inbox.push({ act }, size));
    if (this.#turn?.isSent !== true || this.#end.hasBegun) this.#steers.endTurn();
  }

  async adjust(change: SettingsChange): Promise<void> {
    this.#reports(await adjustAcp(this.#parts, change, this.#isClosedThere));
  }

  offers(): Offers {
    return toAcpOffers(this.#parts.state);
  }

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    if (this.#end.hasBegun) return false;
    const reply = toReply(this.#parts.state, native_id, answer);
    if (reply === undefined) return false;
    this.#stall.heard();
    await this.#server.respond(reply.id, reply.result);
    // Bounded: an agent that ignores it is killed.
    if (reply.cancels) void this.interrupt();
    return true;
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#stall.heard();
    this.#pressure.resume();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#end.stop(how, () => this.#stop(how));
  }

  deliver(frame: Frame, size: number): void {
    this.#stall.heard();
    this.#inbox.push({ frame }, size);
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

  /** The session is open, for the first time or again. */
  enter(opened: Opened): void {
    const { name, state, sink } = this.#parts;
    if (opened.sessionId !== state.sessionId || state.introduced === "") sink.nativeId(opened.sessionId);
    this.#server.router.retire(this);
    state.sessionId = opened.sessionId;
    state.settings = opened.settings;
    this.#isClosedThere = false;
    this.#reports(introduce(state));
    if (opened.lost !== undefined) {
      const text = `${name} has lost the previous conversation (${opened.lost}) and starts a new one`;
      this.#report(reportNotice(state, "session_lost", { level: "warn", text }));
    }
    for (const { frame, size } of opened.kept) this.deliver(frame, size);
    this.#server.router.claim(opened.sessionId, this);
  }

  /** In a replay, from the place of its snapshot on. */
  reenter(): void {
    this.#server.moveIn(this);
    if (!this.#isClosedThere) this.#server.router.claim(this.#parts.state.sessionId, this);
  }

  /** In a replay: what it did when its time was up. */
  repeat(name: string, [isClosedThere, isAlone]: readonly unknown[]): void {
    const turn = this.#turn;
    if (name !== "abandon" || turn === undefined) return;
    this.#isClosedThere = isClosedThere === true;
    void this.#abandon(turn, isAlone === true);
  }

  async #reopen(): Promise<void> {
    const { reopen, state, name } = this.#parts;
    const opened = await this.#server.router.open(() => reopen(state.sessionId));
    const owner = this.#server.router.findOwner(opened.sessionId);
    if (owner !== undefined && owner !== this) throw openElsewhere(name, opened.sessionId);
    if (!this.#end.hasBegun) this.enter(opened);
  }

  /** Processed after everything the agent sent before it, even if we read slowly. */
  #onResponse(turn: AcpTurn, answer: RpcAnswer, size: number): void {
    if ("result" in answer) this.#inbox.push({ frame: { kind: "answer", answer }, turn }, size);
    // Without an answer the agent is gone, and its end is reported instead.
    else if (answer.error instanceof RpcError) {
      const { error } = answer;
      this.#inbox.push({ frame: { kind: "answer", answer: { error } }, turn }, size);
    }
  }

  #handle(item: Item): void {
    const { state } = this.#parts;
    if (this.#end.hasBegun) return;
    this.#keeper?.touch();
    if ("act" in item) {
      item.act();
      return;
    }
    const { frame, turn } = item;
    if (frame.kind === "answer") {
      // The response to an abandoned prompt.
      if (turn === undefined || turn !== this.#turn) return;
      const { notBegun } = turn;
      turn.leftRunning = notBegun !== undefined && openCommands(state).some((id) => !notBegun.has(id));
    }
    this.#reports(translate(state, frame));
  }

  #reports(reports: readonly AcpReport[]): void {
    for (const report of reports) this.#report(report);
  }

  #report(report: AcpReport): void {
    const { sink } = this.#parts;
    if (report.kind === "event") this.#event(report.event);
    else if (report.kind === "ask") sink.ask(report.ask);
    else if (report.kind === "withdrawn") sink.withdrawn(report.native_id, report.reason);
    else if (report.kind === "auth_failed") sink.authFailed(report.message);
    else if (report.kind === "used") sink.used?.({ cost_usd: report.cost_usd });
    else if (report.kind === "reply") void this.#server.respond(report.id, report.result);
    else this.#server.respondError(report.id, report.error);
  }

  #event(event: AgentEvent): void {
    const turn = this.#turn;
    if (event.type !== "agent.result" || turn === undefined) {
      this.#parts.sink.event(event);
      return;
    }
    this.#endTurn(turn);
    this.#parts.sink.event({ ...event, duration_ms: turn.durationMs });
  }

  async #interrupt(): Promise<void> {
    const { state, limits } = this.#parts;
    const turn = this.#turn;
    const isRepeated = this.#keeper?.isRepeating === true;
    if (turn === undefined || this.#end.hasBegun) return;
    this.#inbox.resume();
    if (!turn.isSent) {
      this.#tellResult(turn, "interrupted");
      return;
    }
    turn.notBegun = findAskedTools(state);
    this.#reports(cancelTurn(state));
    this.#server.notify("session/cancel", { sessionId: state.sessionId });
    await waitAtMost(limits.cancelMs, Promise.race([turn.over, this.#end.gone]));
    if (this.#end.hasBegun) return this.#end.gone;
    if (this.#turn === turn) await this.#insist(turn);
    // codex-acp says that the turn is cancelled while its command runs on, until the session is closed.
    else if (turn.leftRunning) {
      await this.#close();
      // A later turn may have started what is running now.
      if (!isRepeated) await killLeftovers(this.#parts.marker, turn.sinceS);
    }
    if (this.#end.hasBegun) return this.#end.gone;
  }

  /** It was asked to stop and did not. */
  async #insist(turn: AcpTurn): Promise<void> {
    const isClosed = await this.#close();
    if (isClosed) await waitAtMost(LAST_WORD_MS, Promise.race([turn.over, this.#end.gone]));
    if (this.#turn !== turn || this.#end.hasBegun) return;
    const isAlone = this.#server.residents.size === 1;
    // With what decides about the process: in a replay, others may not have entered yet.
    this.#keeper?.record("abandon", [this.#isClosedThere, isAlone], () => undefined);
    await this.#abandon(turn, isAlone);
  }

  async #abandon(turn: AcpTurn, isAlone: boolean): Promise<void> {
    const { state, name, log } = this.#parts;
    log.warn("acp.turn_abandoned", { agent: name });
    // Further output of this turn is ignored.
    this.#server.router.retire(this);
    this.#reports(abandonTurn(state, "interrupted"));
    this.#tellResult(turn, "interrupted");
    if (this.#isClosedThere && !isAlone) return;
    this.#end.isWanted = true;
    if (isAlone) await this.#server.kill(`${name} did not end the interrupted turn and was killed`);
    // Unread while another session is over its limit; its clients must not lose it.
    else if (!this.#server.isHeld && !(await isResponsive(this.#server))) {
      await this.#server.kill(`${name} stopped responding and was killed`);
    } else {
      this.#server.moveOut(this);
      this.#keeper?.leave();
      this.#tellEnd({ expected: true, message: `${name} did not end the interrupted turn` });
    }
  }

  /** Whether the agent has closed the session. */
  async #close(): Promise<boolean> {
    if (!canSession(this.#server, "close") || this.#isClosedThere) return this.#isClosedThere;
    const { state, lane, limits } = this.#parts;
    const params: JsonObject = { sessionId: state.sessionId };
    this.#isClosedThere = await lane.request("session/close", params, limits.closeMs).then(
      () => true,
      () => false,
    );
    return this.#isClosedThere;
  }

  #tellResult(turn: AcpTurn, subtype: ResultEvent["subtype"], error?: ResultEvent["error"]): void {
    const { name: backend, sink } = this.#parts;
    this.#endTurn(turn);
    const { durationMs: duration_ms } = turn;
    sink.event({ type: "agent.result", backend, subtype, duration_ms, ...defined({ error }) });
  }

  #endTurn(turn: AcpTurn): void {
    if (this.#turn === turn) {
      this.#turn = undefined;
      this.#steers.endTurn();
    }
    this.#stall.end();
    this.#pressure.turnOver();
    turn.end();
  }

  async #stop(how: "finish" | "now"): Promise<void> {
    const { lease, state } = this.#parts;
    const turn = this.#turn;
    // Its requests will not be answered, so it would not finish.
    if (how === "finish" && turn !== undefined && state.asks.size === 0) {
      await waitAtMost(FINISH_LIMIT_MS, Promise.race([turn.over, this.#end.hurried, this.#end.gone]));
    }
    // A process of its own takes everything down with it.
    if (!this.#end.hasBegun && !(lease.isOwn && how === "now")) await this.#leave();
    this.#server.moveOut(this);
    this.#keeper?.leave();
    await lease.release(how);
    this.#tellEnd({ expected: true, message: "closed" });
  }

  async #leave(): Promise<void> {
    const { state } = this.#parts;
    const turn = this.#turn;
    if (turn?.isSent === true) {
      this.#inbox.resume();
      this.#reports(cancelTurn(state));
      this.#server.notify("session/cancel", { sessionId: state.sessionId });
      await waitAtMost(LAST_WORD_MS, Promise.race([turn.over, this.#end.gone]));
    }
    if (!this.#end.hasBegun) await Promise.race([this.#close(), this.#end.gone]);
  }

  #tellEnd(why: Ended): void {
    if (this.#end.hasBegun) return;
    this.#reports(abandonTurn(this.#parts.state, `${this.#parts.name} has ended`));
    this.#stall.end();
    this.#end.tell(why, () => {
      if (this.#turn !== undefined) this.#endTurn(this.#turn);
    });
  }
}
