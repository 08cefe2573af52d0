// One running `codex mcp-server`: a user message is a `tools/call`, its notifications are the turn, its response ends
// it. translate.ts and result.ts interpret messages; agent-process.ts starts and ends the process.

import { AgentProcess } from "../../../base/agent-process.ts";
import { type ChildExit, type ChildOrder, waitAtMost } from "../../../base/child.ts";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { crashMessage, exitMessage, formatTail } from "../../../base/exit-message.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { LineAside } from "../../../base/json-lines.ts";
import { isNameless, JsonRpcPeer } from "../../../base/jsonrpc.ts";
import type { Log } from "../../../base/log.ts";
import { asObject } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { toNotice } from "../../../protocol/notices.ts";
import type { Answer } from "../../../protocol/requests.ts";
import { Backpressure } from "../../backpressure.ts";
import type { BackendSink, Run } from "../../types.ts";
import { toolCall } from "./arguments.ts";
import { Asks } from "./asks.ts";
import { hasAuthError, LOGIN_ADVICE } from "./auth.ts";
import { shakeHands } from "./handshake.ts";
import { createMessageReader } from "./messages.ts";
import { endTurn, type TurnEnd } from "./result.ts";
import { isOfTurn, isTurnActive, type McpReport, type McpState } from "./state.ts";
import { translate } from "./translate.ts";

export interface McpRunParts {
  state: McpState;
  options: JsonObject;
  sink: BackendSink;
  log: Log;
  maxLineBytes: number;
}

const HANDSHAKE_LIMIT_MS = 10_000;
/** Codex 0.125 often ignores a cancel, or never answers the cancelled call. */
const CANCEL_LIMIT_MS = 2000;
const FINISH_LIMIT_MS = 5000;
/** initialize and tools/list come before the first call. */
const FIRST_CALL_ID = 3;
const CANCELLED = "notifications/cancelled";
const FRAMING = "codex frames its messages with Content-Length headers; blemeesd reads one message per line";

export class McpRun implements Run {
  readonly #parts: McpRunParts;
  readonly #peer: JsonRpcPeer;
  readonly #asks: Asks;
  readonly #process: AgentProcess;
  readonly #pressure: Backpressure;
  /** Not reported while `start` may still fail; undefined afterwards. */
  #early: Array<() => void> | undefined = [];
  #turnOver: Array<() => void> = [];
  #nextCallId = FIRST_CALL_ID;
  #fault: string | undefined;

  constructor(parts: McpRunParts) {
    this.#parts = parts;
    this.#peer = new JsonRpcPeer({
      write: (line) => this.#process.write(line),
      handlers: {
        notification: (method, params) => this.#notification(method, params),
        request: (id, method, params) => {
          const ask = this.#asks.take(id, method, params);
          if (ask !== undefined) this.#tell(() => parts.sink.ask(ask));
        },
      },
      withVersion: true,
    });
    this.#asks = new Asks(parts.state, this.#peer);
    this.#process = new AgentProcess({
      name: "codex",
      reader: createMessageReader(parts.maxLineBytes, {
        message: (message) => this.#message(message),
        skipped: (size, reason, aside) => this.#reportSkipped(size, reason, aside),
        foreignFraming: () => this.#foreignFraming(),
      }),
      finishMs: FINISH_LIMIT_MS,
      errorLine: (line) => this.#tell(() => parts.sink.stderr(line)),
      ended: (exit, expected) => this.#end(exit, expected),
    });
    this.#pressure = new Backpressure(this.#process);
  }

  get pid(): number | undefined {
    return this.#process.child?.pid;
  }

  /** Resolves when codex accepts messages; otherwise it is ended, and `spawn_failed` has its output. */
  async start(order: ChildOrder): Promise<void> {
    await this.#process.start(order);
    try {
      await shakeHands(this.#peer, HANDSHAKE_LIMIT_MS);
    } catch (cause) {
      await this.#process.kill();
      const { lastLines, exit } = this.#process;
      // A failed write says less than the exit that follows.
      const why = cause instanceof CodedError ? exitMessage(exit) : toMessage(cause);
      const words = this.#fault ?? (formatTail(lastLines) || why);
      throw new CodedError("spawn_failed", `codex mcp-server did not start: ${words}`, { cause });
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const tell of early) tell();
  }

  async send(message: UserMessage): Promise<void> {
    const { state, options, log } = this.#parts;
    const call = toolCall(options, state.threadId, message);
    if (this.#process.hasEnded) {
      throw new CodedError("backend_crashed", "codex has ended; resume the session");
    }
    if (isTurnActive(state))
      throw new CodedError("session_busy", "codex is running a turn; interrupt it first");
    state.requestId = this.#nextCallId;
    this.#nextCallId += 1;
    // Not through the peer: its response is one of three ends of a turn, and cancelling needs its id.
    const request = { jsonrpc: "2.0", id: state.requestId, method: "tools/call", params: call };
    try {
      await this.#process.write(JSON.stringify(request));
    } catch (cause) {
      // The exit that follows also ends the turn.
      log.warn("backend.stdin_closed", { backend: "codex", cause: String(cause) });
      await this.#process.giveUp();
    }
  }

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    return !this.#process.hasEnded && this.#asks.answer(native_id, answer);
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#pressure.resume();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#process.stop(how);
  }

  async #interrupt(): Promise<void> {
    const { state } = this.#parts;
    const { requestId } = state;
    if (requestId === undefined || this.#process.hasEnded) return;
    this.#process.resume();
    const over = new Promise<void>((resolve) => {
      this.#turnOver.push(resolve);
    });
    state.isCancelled = true;
    this.#peer.notify(CANCELLED, { requestId, reason: "user_interrupt" });
    // Immediately: an approval now could still run the command.
    this.#withdraw(this.#asks.close(), "the turn was interrupted");
    await waitAtMost(CANCEL_LIMIT_MS, over);
    // Further messages of this call have its id, and are dropped.
    if (!this.#process.hasEnded && state.requestId === requestId) this.#endTurn({ kind: "aborted" });
  }

  #message(message: JsonObject): void {
    const isReply = typeof message["method"] !== "string";
    if (isReply && isOfTurn(this.#parts.state, message["id"])) this.#reply(message);
    else this.#peer.receive(message);
  }

  #reply(message: JsonObject): void {
    const { error, result } = message;
    const hasFailed = error !== undefined && error !== null;
    this.#endTurn(hasFailed ? { kind: "error", error: asObject(error) } : { kind: "result", result });
  }

  #notification(method: string, params: JsonObject): void {
    const taken = method === CANCELLED ? this.#asks.cancelled(params["requestId"]) : undefined;
    if (taken !== undefined) this.#withdraw([taken], "codex withdrew it");
    else for (const report of translate(this.#parts.state, method, params)) this.#report(report);
  }

  #endTurn(end: TurnEnd): void {
    for (const report of endTurn(this.#parts.state, end)) this.#report(report);
  }

  #report(report: McpReport): void {
    const { sink } = this.#parts;
    const isEnd = report.kind === "event" && report.event.type === "agent.result";
    // Before the result, which is the last event of a turn.
    if (isEnd) this.#withdraw(this.#asks.close(), "the turn has ended");
    this.#tell(() => {
      if (report.kind === "event") sink.event(report.event);
      else if (report.kind === "auth_failed") sink.authFailed(report.message);
      else sink.nativeId(report.id);
    });
    if (isEnd) this.#tellTurnOver();
  }

  #withdraw(native_ids: readonly string[], reason: string): void {
    for (const id of native_ids) this.#tell(() => this.#parts.sink.withdrawn(id, reason));
  }

  #tell(tell: () => void): void {
    if (this.#early === undefined) tell();
    else this.#early.push(tell);
  }

  #tellTurnOver(): void {
    const waiting = this.#turnOver;
    this.#turnOver = [];
    for (const resolve of waiting) resolve();
  }

  /** Unreadable lines are not shown, but always reported. */
  #reportSkipped(size: number, reason: string, aside: LineAside | undefined): void {
    this.#parts.log.warn("backend.unreadable_stdout", { backend: "codex", size, reason });
    const why = `a line of ${size} bytes from codex was skipped: ${reason}`;
    this.#warn("unreadable_output", why, aside?.data);
    if (aside === undefined) return;
    const { outline, isCut } = aside;
    if (isCut && isNameless(outline)) {
      this.#fault = why;
      void this.#process.kill();
      return;
    }
    const isOurs = !outline.has("method") && isOfTurn(this.#parts.state, outline.get("id"));
    if (isOurs) this.#endTurn({ kind: "error", error: { message: why } });
    else this.#peer.rejectUnreadable(outline, why);
  }

  /** No turn of it can ever end, so it is useless. */
  #foreignFraming(): void {
    this.#fault = FRAMING;
    this.#warn("codex_unsupported_framing", FRAMING);
    void this.#process.giveUp();
  }

  #warn(
    category: "unreadable_output" | "codex_unsupported_framing",
    text: string,
    data?: LineAside["data"],
  ): void {
    const notice = toNotice("codex", category, { level: "warn", text, data });
    this.#tell(() => this.#parts.sink.event(notice));
  }

  #end(exit: ChildExit, expected: boolean): void {
    const { sink } = this.#parts;
    const { lastLines } = this.#process;
    if (!expected && hasAuthError(lastLines)) this.#tell(() => sink.authFailed(LOGIN_ADVICE));
    const crash = this.#fault ?? crashMessage(exit, lastLines);
    const message = expected ? exitMessage(exit) : crash;
    this.#peer.close(new Error(message));
    this.#tell(() => sink.ended({ expected, message, ...exit }));
    this.#tellTurnOver();
  }
}
