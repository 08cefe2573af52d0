// One live `codex mcp-server`: a user message is a `tools/call`, its notifications are the turn, its answer ends it.
// What messages mean is translate.ts and result.ts; how a process starts and stops is base/child.ts.
import { type Child, type ChildExit, type ChildHandlers, within } from "../../../base/child.ts";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import { JsonRpcPeer } from "../../../base/jsonrpc.ts";
import type { Log } from "../../../base/log.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import type { Answer } from "../../../protocol/requests.ts";
import { crashMessage, exitMessage, StderrTail } from "../../last-words.ts";
import type { BackendSink, Run } from "../../types.ts";
import { objectOf } from "../values.ts";
import { toolCall } from "./arguments.ts";
import { Asks } from "./asks.ts";
import { diedOfAuth, LOGIN_ADVICE } from "./auth.ts";
import { shakeHands } from "./handshake.ts";
import { MessageReader } from "./messages.ts";
import { endTurn, type TurnEnd } from "./result.ts";
import { isOfTurn, isTurnActive, type McpState, type Report } from "./state.ts";
import { translate } from "./translate.ts";

export interface RunParts {
  state: McpState;
  options: JsonObject;
  sink: BackendSink;
  log: Log;
  maxLineBytes: number;
}

const HANDSHAKE_LIMIT_MS = 10_000;
/** Codex 0.125 often ignores a cancel, or never answers the cancelled call (spec §6.2.4). */
const CANCEL_LIMIT_MS = 2000;
const FINISH_LIMIT_MS = 5000;
/** A closed pipe and the exit that explains it may come in either order. */
const EXIT_FOLLOWS_MS = 500;
/** initialize and tools/list come before the first call. */
const FIRST_CALL_ID = 3;
const CANCELLED = "notifications/cancelled";
const FRAMING = "codex frames its messages with Content-Length headers; blemeesd reads one message a line";

export class McpRun implements Run, ChildHandlers {
  readonly #parts: RunParts;
  readonly #peer: JsonRpcPeer;
  readonly #asks: Asks;
  readonly #reader: MessageReader;
  readonly #stderr = new StderrTail();
  #child: Child | undefined;
  /** Told to nobody while `start` may still fail; undefined afterwards. */
  #early: Array<() => void> | undefined = [];
  #turnOver: Array<() => void> = [];
  #nextCallId = FIRST_CALL_ID;
  #interrupting: Promise<void> | undefined;
  #fault: string | undefined;
  #isPaused = false;
  #isStopping = false;
  #hasEnded = false;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#peer = new JsonRpcPeer({
      // A write that fails says less than the exit behind it.
      write: async (line) => this.#child?.write(line).catch(() => undefined),
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
    this.#reader = new MessageReader(parts.maxLineBytes, {
      message: (message) => this.#message(message),
      skipped: (size, reason) => this.#skipped(size, reason),
      foreignFraming: () => this.#foreignFraming(),
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  attach(child: Child): void {
    this.#child = child;
    void child.done.then((exit) => this.#end(exit));
  }

  /** Resolves when codex takes messages; otherwise it is ended, and its own words are in `spawn_failed`. */
  async warm(): Promise<void> {
    try {
      await shakeHands(this.#peer, HANDSHAKE_LIMIT_MS);
    } catch (cause) {
      await this.#child?.stop();
      const words = this.#fault ?? (this.#stderr.lines.join("\n") || messageOf(cause));
      throw new CodedError("spawn_failed", `codex mcp-server did not start: ${words}`, { cause });
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const tell of early) tell();
  }

  async send(message: UserMessage): Promise<void> {
    const { state, options, log } = this.#parts;
    const call = toolCall(options, state.threadId, message);
    if (this.#hasEnded) throw new CodedError("backend_crashed", "codex has ended; resume the session");
    if (isTurnActive(state)) throw new CodedError("session_busy", "codex is in a turn; interrupt it first");
    state.requestId = this.#nextCallId;
    this.#nextCallId += 1;
    // Not by the peer: its answer is one of three ends of a turn, and cancelling needs its id.
    const request = { jsonrpc: "2.0", id: state.requestId, method: "tools/call", params: call };
    try {
      await this.#child?.write(JSON.stringify(request));
    } catch (cause) {
      // The end that follows ends the turn as well.
      log.warn("backend.stdin_closed", { backend: "codex", cause: String(cause) });
      await this.#giveUp();
    }
  }

  interrupt(): Promise<void> {
    this.#interrupting ??= this.#interrupt().finally(() => {
      this.#interrupting = undefined;
      if (this.#isPaused) this.#child?.pause();
    });
    return this.#interrupting;
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    return Promise.resolve(!this.#hasEnded && this.#asks.answer(native_id, answer));
  }

  pause(): void {
    this.#isPaused = true;
    // The end of an interrupted turn must get through, however slow the reader is.
    if (this.#interrupting === undefined) this.#child?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#child?.resume();
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.#isStopping = true;
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
    const { state } = this.#parts;
    const { requestId } = state;
    if (requestId === undefined || this.#hasEnded) return;
    this.#child?.resume();
    const over = new Promise<void>((resolve) => {
      this.#turnOver.push(resolve);
    });
    state.isCancelled = true;
    this.#peer.notify(CANCELLED, { requestId, reason: "user_interrupt" });
    // At once: an approval that came now could still let the command run.
    this.#withdraw(this.#asks.close(), "the turn was interrupted");
    await within(CANCEL_LIMIT_MS, over);
    // What it still says of this call carries its id, and is dropped.
    if (!this.#hasEnded && state.requestId === requestId) this.#endTurn({ kind: "aborted" });
  }

  #message(message: JsonObject): void {
    const isReply = typeof message["method"] !== "string";
    if (isReply && isOfTurn(this.#parts.state, message["id"])) this.#reply(message);
    else this.#peer.receive(message);
  }

  #reply(message: JsonObject): void {
    const { error, result } = message;
    const hasFailed = error !== undefined && error !== null;
    this.#endTurn(hasFailed ? { kind: "error", error: objectOf(error) } : { kind: "result", result });
  }

  #notification(method: string, params: JsonObject): void {
    const taken = method === CANCELLED ? this.#asks.cancelled(params["requestId"]) : undefined;
    if (taken !== undefined) this.#withdraw([taken], "codex took it back");
    else for (const report of translate(this.#parts.state, method, params)) this.#report(report);
  }

  #endTurn(end: TurnEnd): void {
    for (const report of endTurn(this.#parts.state, end)) this.#report(report);
  }

  #report(report: Report): void {
    const { sink } = this.#parts;
    const isEnd = report.kind === "event" && report.event.type === "agent.result";
    // Before the result, which is the last word of a turn.
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

  /** What cannot be read is not shown, but nobody loses it without being told. */
  #skipped(size: number, reason: string): void {
    this.#parts.log.warn("backend.unreadable_stdout", { backend: "codex", size, reason });
    this.#warn("unreadable_output", `a line of ${size} bytes from codex was skipped: ${reason}`);
  }

  /** No turn of it can ever end, so it is of no use. */
  #foreignFraming(): void {
    this.#fault = FRAMING;
    this.#warn("codex_unsupported_framing", FRAMING);
    void this.#giveUp();
  }

  #warn(category: string, text: string): void {
    const notice = { type: "agent.notice", backend: "codex", level: "warn", category, text } as const;
    this.#tell(() => this.#parts.sink.event(notice));
  }

  /** One of its pipes is closed or unreadable: if it does not go by itself, it is ended. */
  async #giveUp(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    await within(EXIT_FOLLOWS_MS, child.exit);
    await child.stop();
    this.#end({});
  }

  #end(exit: ChildExit): void {
    if (this.#hasEnded) return;
    this.#reader.end();
    this.#hasEnded = true;
    const { sink } = this.#parts;
    const expected = this.#isStopping;
    if (!expected && diedOfAuth(this.#stderr.lines)) this.#tell(() => sink.authFailed(LOGIN_ADVICE));
    const crash = this.#fault ?? crashMessage(exit, this.#stderr.lines);
    const message = expected ? exitMessage(exit) : crash;
    this.#peer.close(new Error(message));
    this.#tell(() => sink.ended({ expected, message, ...exit }));
    this.#tellTurnOver();
  }
}
