// One session over `codex mcp-server`: a user message is a `tools/call`, its notifications are the turn, its response ends
// it. translate.ts, result.ts and asks.ts interpret messages; process.ts is the process.

import { waitAtMost } from "../../../base/child.ts";
import { CodedError } from "../../../base/coded-error.ts";
import { formatCrash, formatExit } from "../../../base/exit-message.ts";
import type { JsonObject } from "../../../base/json.ts";
import { type RpcAnswer, RpcError, type RpcId } from "../../../base/jsonrpc.ts";
import { defined } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import type { NoticeEvent } from "../../../protocol/events.ts";
import type { Answer } from "../../../protocol/requests.ts";
import { Backpressure } from "../../backpressure.ts";
import type { SessionLane } from "../../shared-process.ts";
import type { BackendSink, Ended, Run, RunTraces, StartOrder } from "../../types.ts";
import { CodexTurn } from "../app-server/turn.ts";
import { buildProcessEnvironment } from "../environment.ts";
import { type CodexOptions, refuseNewOptions } from "../options.ts";
import type { CodexProgram } from "../program.ts";
import { buildMcpArgv, toToolCall } from "./arguments.ts";
import { REFUSAL, toAsk, toReply } from "./asks.ts";
import { type McpProcess, type McpResident, startMcpServer } from "./process.ts";
import { endTurn, hasAuthError, LOGIN_ADVICE, type TurnEnd } from "./result.ts";
import { createState, type McpReport, type McpState } from "./state.ts";
import { translate } from "./translate.ts";

const HANDSHAKE_MS = 10_000;
/** Codex 0.125 often ignores a cancel, or never answers the cancelled call. */
const CANCEL_LIMIT_MS = 2000;
const CANCELLED = "notifications/cancelled";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export async function startMcpRun(program: CodexProgram, order: StartOrder, sink: BackendSink): Promise<Run> {
  const options = order.options as CodexOptions;
  refuseNewOptions(options);
  const env = { ...buildProcessEnvironment(program.env, {}), ...order.env };
  const { maxLineBytes, command } = program;
  const child = { command, args: buildMcpArgv(options), env, ...defined({ cwd: options.cwd }) };
  const server = await startMcpServer({ ...child, maxLineBytes, log: order.log, handshakeMs: HANDSHAKE_MS });
  const run = new McpRun(server, options, createState(options, findThread(order)), sink);
  if (!server.moveIn(run))
    throw new CodedError("spawn_failed", "codex mcp-server exited right after its start");
  return run;
}

/** The thread to continue. An unknown session may be named by its thread, as in the listing. */
function findThread({ resume, began_here, session_id, native_session_id }: StartOrder): string | undefined {
  if (!resume) return undefined;
  return native_session_id ?? (!began_here && UUID.test(session_id) ? session_id : undefined);
}

class McpRun implements Run, McpResident {
  readonly #server: McpProcess;
  readonly #lane: SessionLane;
  readonly #options: CodexOptions;
  readonly #state: McpState;
  readonly #sink: BackendSink;
  readonly #pressure: Backpressure;
  #turn: CodexTurn | undefined;

  constructor(server: McpProcess, options: CodexOptions, state: McpState, sink: BackendSink) {
    this.#server = server;
    // Its ids follow those of the handshake.
    this.#lane = server.openLane({ number: 0, count: server.usedIds.count });
    this.#options = options;
    this.#state = state;
    this.#sink = sink;
    this.#pressure = new Backpressure({
      pause: () => server.hold(this),
      resume: () => server.release(this),
    });
  }

  get pid(): number | undefined {
    return this.#server.pid;
  }

  get traces(): RunTraces {
    const { runId } = this.#server;
    return { markers: runId === undefined ? [] : [runId], isShared: false };
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  async send(message: UserMessage): Promise<void> {
    const call = toToolCall(this.#options, this.#state.threadId, message);
    if (!this.#server.isAlive) throw new CodedError("backend_crashed", "codex has ended; resume the session");
    if (this.isBusy) throw new CodedError("session_busy", "codex is running a turn; interrupt it first");
    const turn = new CodexTurn();
    this.#turn = turn;
    this.#state.requestId = this.#lane.call("tools/call", call, (answer) => {
      // Its response is one of three ends of a turn.
      if (this.#turn === turn) this.#settle(answer);
    });
  }

  interrupt(): Promise<void> {
    return this.#pressure.interrupt(() => this.#interrupt());
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    const { asks } = this.#state;
    const id = asks.get(native_id);
    const reply = toReply(answer);
    if (id === undefined || reply === undefined || !this.#server.isAlive) return false;
    asks.delete(native_id);
    await this.#server.respond(id, reply);
    return true;
  }

  pause(): void {
    this.#pressure.pause();
  }

  resume(): void {
    this.#pressure.resume();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#server.stop(how);
  }

  notify(method: string, params: JsonObject): void {
    const withdrawn = JSON.stringify(params["requestId"]) ?? "";
    if (method === CANCELLED && this.#state.asks.delete(withdrawn))
      this.#sink.withdrawn(withdrawn, "codex withdrew it");
    else this.#reports(translate(this.#state, method, params));
  }

  request(id: RpcId, method: string, params: JsonObject): void {
    const ask = toAsk(this.#state, id, method, params);
    if ("refuse" in ask) this.#server.respondError(id, ask.refuse);
    else if ("reply" in ask) void this.#server.respond(id, ask.reply);
    else this.#sink.ask(ask);
  }

  stderr(line: string): void {
    this.#sink.stderr(line);
  }

  notice(event: NoticeEvent): void {
    this.#sink.event(event);
  }

  processEnded(why: Ended): void {
    const { lastLines, verdict } = this.#server;
    if (!why.expected && hasAuthError(lastLines)) this.#sink.authFailed(LOGIN_ADVICE);
    const message = verdict ?? (why.expected ? formatExit(why) : formatCrash(why, lastLines));
    this.#sink.ended({ ...why, message });
    this.#turn?.end();
  }

  async #interrupt(): Promise<void> {
    const turn = this.#turn;
    const { requestId } = this.#state;
    if (turn === undefined || !this.#server.isAlive) return;
    this.#server.release(this);
    this.#state.isCancelled = true;
    this.#server.notify(CANCELLED, { requestId, reason: "user_interrupt" });
    // Immediately: an approval now could still run the command.
    this.#withdrawAll("the turn was interrupted");
    await waitAtMost(CANCEL_LIMIT_MS, turn.over);
    // Further messages of this call have its id, and are dropped.
    if (this.#turn === turn && this.#server.isAlive) this.#endTurn({ kind: "aborted" });
  }

  /** Any other error means that codex is gone: its end is reported. */
  #settle(answer: RpcAnswer): void {
    if ("result" in answer) this.#endTurn({ kind: "result", result: answer.result });
    else if (answer.error instanceof RpcError) {
      const { code, message, data } = answer.error;
      this.#endTurn({ kind: "error", error: { code, message, ...defined({ data }) } });
    }
  }

  #endTurn(end: TurnEnd): void {
    this.#reports(endTurn(this.#state, end));
  }

  #reports(reports: readonly McpReport[]): void {
    for (const report of reports) {
      if (report.kind === "auth_failed") this.#sink.authFailed(report.message);
      else if (report.kind === "native_id") this.#sink.nativeId(report.id);
      else if (report.event.type !== "agent.result") this.#sink.event(report.event);
      else {
        // Before the result, which is the last event of a turn.
        this.#withdrawAll("the turn has ended");
        const turn = this.#turn;
        this.#turn = undefined;
        this.#sink.event(report.event);
        turn?.end();
      }
    }
  }

  /** Codex gets a refusal for each. */
  #withdrawAll(reason: string): void {
    const left = [...this.#state.asks];
    this.#state.asks.clear();
    for (const [native_id, id] of left) {
      void this.#server.respond(id, REFUSAL);
      this.#sink.withdrawn(native_id, reason);
    }
  }
}
