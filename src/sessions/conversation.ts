// The agent of a session and the turn it is in: starts it, takes its events, stamps and publishes them, and
// sees to it that every turn ends with exactly one result. Who may talk to it is session.ts's business.
import { randomUUID } from "node:crypto";
import type { Backend, BackendSink, Ended, Run } from "../backends/types.ts";
import { CodedError, messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { AgentEvent, ResultEvent, SystemInitEvent } from "../protocol/events.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { ActivityState, SessionRow } from "../protocol/session.ts";
import { type ActivityInput, nextActivity, wantsOf } from "./activity.ts";
import type { ConversationContext, Handover } from "./conversation-context.ts";
import { Interrupts } from "./interrupts.ts";
import { busy, waitsFor } from "./refusals.ts";
import type { Asker } from "./requests.ts";
import { untilEnded } from "./run-sink.ts";
import { noteInit, startOrder } from "./start-order.ts";
import { StderrRate } from "./stderr-rate.ts";
import { titleOf } from "./title.ts";
import {
  closingResults,
  createTurn,
  lastResultOf,
  noteEvent,
  stampResult,
  startedNotice,
  syntheticResult,
  type Turn,
} from "./turn.ts";
import { addUsage } from "./usage.ts";

/** The message did not reach the agent, so its turn never was. */
const REFUSALS: ReadonlySet<string> = new Set(["invalid_message", "store_failed"]);

export class Conversation {
  readonly #context: ConversationContext;
  readonly #row: SessionRow;
  readonly #log: Log;
  readonly #stderr: StderrRate;
  #run: Run | undefined;
  /** This life of the agent in the ledger. */
  #asker: Asker | undefined;
  #turn: Turn | undefined;
  readonly #interrupts: Interrupts;
  #hasInit = false;
  #wasBusy = false;
  #isPaused = false;
  /** The agent is being ended and its turn has its result: what it still says comes too late. */
  #isMuted = false;
  #activity: ActivityState = "stopped";
  /** When the agent last said anything. */
  last_event_at_ms: number | undefined;

  constructor(context: ConversationContext) {
    this.#context = context;
    this.#row = context.stream.row;
    this.#log = context.log;
    this.#stderr = new StderrRate(context.stderrRate);
    const conversation = this;
    this.#interrupts = new Interrupts({
      get run() {
        return conversation.#run;
      },
      get turn() {
        return conversation.#turn;
      },
      release: () => this.hold(false),
      cut: () => this.#cutTurn("interrupted"),
      keepWarm: () => context.keepWarm(),
      restart: () => this.start(true),
      log: context.log,
    });
  }

  get backend(): Backend {
    return this.#context.backend;
  }

  get isTurnActive(): boolean {
    return this.#turn !== undefined;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Something is going on that must not be cut off: a turn, or a question that waits for a person. */
  get isEngaged(): boolean {
    return this.isTurnActive || this.isAsking || this.isBusy;
  }

  /** What the agent waits for, oldest first. */
  get pending(): RequestRow[] {
    return this.#context.ledger.pendingOf(this.#row.session_id);
  }

  get pid(): number | undefined {
    return this.#run?.pid;
  }

  get activity(): ActivityState {
    return this.#activity;
  }

  /** A question waits for a person, or an answer is on its way. */
  get isAsking(): boolean {
    return this.#context.ledger.isEngaged(this.#row.session_id);
  }

  /** It works on behind the turn. */
  get isBusy(): boolean {
    return this.#run?.isBusy === true;
  }

  /** Resolves when no interrupt is under way. Whoever starts or ends the agent waits for this first. */
  calm(): Promise<void> {
    return this.#interrupts.calm();
  }

  /** Starts the agent unless it runs. Callers take turns (session.ts), so it never starts twice. */
  async start(resume: boolean): Promise<Run> {
    if (this.#run !== undefined) return this.#run;
    const row = this.#row;
    let early: Ended | undefined;
    let isUp = false;
    this.#hasInit = false;
    this.#isPaused = false;
    this.#isMuted = false;
    let run: Run | undefined;
    const asker: Asker = {
      stream: this.#context.stream,
      generation: randomUUID(),
      answer: async (native_id, answer) => (await run?.answer?.(native_id, answer)) ?? false,
      changed: () => this.#onRequests(),
    };
    const sink = this.#sink(asker, (why) => {
      if (isUp) this.#onEnded(why);
      else early = why;
    });
    const { env, backend } = this.#context;
    this.#move({ kind: "run_starting" });
    try {
      run = await backend.start(startOrder(row, { resume, env, log: this.#log }), sink);
      if (early !== undefined) throw new CodedError("spawn_failed", (early as Ended).message);
    } catch (error) {
      this.#context.ledger.ended(asker, "the agent did not start");
      this.#move({ kind: "run_ended" });
      throw error;
    }
    isUp = true;
    this.#run = run;
    this.#asker = asker;
    this.#move({ kind: "run_started" });
    this.#log.info("backend.spawn", { backend: backend.name, pid: run.pid, resume });
    return run;
  }

  /** Begins a turn. `taken` settles when the agent has read the message, which a stuck one never does. */
  async send(message: UserMessage, handover?: Handover): Promise<{ taken: Promise<void> }> {
    const [waiting] = this.pending;
    if (this.#turn !== undefined) throw busy(waiting);
    if (waiting !== undefined) throw waitsFor(waiting);
    if (this.isAsking) throw busy();
    const run = await this.start(true);
    // An agent can begin a turn by itself while it starts.
    if (this.#turn !== undefined || handover?.isStale() === true) throw busy();
    const turn = this.#beginTurn("user", handover?.begun);
    return { taken: this.#hand(run, turn, message, handover) };
  }

  async #hand(run: Run, turn: Turn, message: UserMessage, handover?: Handover): Promise<void> {
    try {
      await handover?.stored();
      if (this.#turn !== turn) return; // interrupted before the agent had it
      await run.send(message);
    } catch (error) {
      // It has just begun a turn of its own: that one goes on, and the client is told to wait for it.
      if (error instanceof CodedError && error.code === "session_busy") throw error;
      // A dead agent reports itself through `ended`, which closes the turn; only a refused message ends here.
      if (error instanceof CodedError && REFUSALS.has(error.code) && this.#turn === turn) {
        this.#forgetTurn();
        throw error;
      }
      this.#log.warn("session.send_failed", { message: messageOf(error) });
      return;
    }
    if (handover?.isTold !== true) this.#row.title ??= titleOf(message);
    this.#saveRow();
    if (this.#turn === turn && this.#hasInit && !turn.announced) this.#announce(turn);
  }

  /** Marks the turn as interrupted by a client. False when none runs. */
  markInterrupted(): boolean {
    if (this.#turn === undefined) return false;
    this.#turn.interrupting = true;
    return true;
  }

  stopTurn(): Promise<void> {
    return this.#interrupts.stopTurn();
  }

  /** Ends the agent; a turn that still runs gets its result. */
  async stop(how: "finish" | "now"): Promise<void> {
    if (how === "now") {
      if (this.#asker !== undefined) this.#context.ledger.ended(this.#asker, "the agent was ended");
      this.#cutTurn("interrupted");
      this.#isMuted = true;
    }
    await this.#run?.stop(how);
    this.#cutTurn("interrupted");
  }

  hold(isHeld: boolean): void {
    if (isHeld === this.#isPaused || this.#run === undefined) return;
    this.#isPaused = isHeld;
    if (isHeld) this.#run.pause();
    else this.#run.resume();
  }

  #sink(asker: Asker, ended: (why: Ended) => void): BackendSink {
    const { ledger } = this.#context;
    return untilEnded({
      event: (event) => {
        this.#onEvent(event);
        this.#noteBusy();
      },
      turnStarted: () => {
        if (this.#turn === undefined && !this.#isMuted) this.#beginTurn("agent");
      },
      stderr: (line) => {
        for (const shown of this.#stderr.take(line))
          this.#publishFrame({ type: "blemeesd.stderr", line: shown });
      },
      authFailed: (message) => this.#onAuthFailed(message),
      calmed: () => this.#noteBusy(),
      ask: (ask) => ledger.ask(asker, ask),
      withdrawn: (native_id, reason) => ledger.withdrawn(asker, native_id, reason),
      nativeId: (id) => {
        this.#row.native_session_id = id;
        this.#saveRow();
      },
      ended: (why) => {
        ledger.ended(asker, `the agent has ended (${why.message})`);
        ended(why);
      },
    });
  }

  #onEvent(event: AgentEvent): void {
    if (this.#isMuted) return;
    this.last_event_at_ms = Date.now();
    if (event.type === "agent.result") {
      if (this.#turn === undefined) this.#log.warn("session.extra_result", { subtype: event.subtype });
      else this.#finishTurn(event);
      return;
    }
    if (event.type === "agent.system_init") {
      this.#publish(event);
      this.#onInit(event);
      return;
    }
    const turn = this.#turn;
    if (turn !== undefined) {
      if (!turn.announced && event.type !== "agent.notice") this.#announce(turn);
      noteEvent(turn, event, Date.now());
    }
    this.#publish(event);
  }

  #noteBusy(): void {
    const { isBusy } = this;
    if (isBusy === this.#wasBusy) return;
    this.#wasBusy = isBusy;
    this.#context.hooks.changed(this.#row.session_id);
    if (!isBusy) this.#context.calmed();
  }

  #onInit(event: SystemInitEvent): void {
    this.#hasInit = true;
    noteInit(this.#row, event);
    this.#saveRow();
    if (this.#turn !== undefined && !this.#turn.announced) this.#announce(this.#turn);
  }

  /** Not retried (spec §9.2): whatever the agent still tries is stopped, and the turn ends as this error. */
  #onAuthFailed(message: string): void {
    this.#publishError("auth_failed", message);
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.verdict = { code: "auth_failed", message };
    // The result may stand right behind, in what is being read now; only an agent that goes on is stopped.
    setImmediate(() => {
      if (this.#turn === turn) void this.stopTurn();
    });
  }

  #onRequests(): void {
    this.last_event_at_ms = Date.now(); // an agent that waited for an answer could say nothing
    this.#move({ kind: "requests", wants: wantsOf(this.pending), isTurnActive: this.isTurnActive });
    if (!this.isEngaged) this.#context.turnEnded();
  }

  #onEnded(why: Ended): void {
    this.#run = undefined;
    this.#asker = undefined;
    const { code, signal, expected } = why;
    this.#log.info("backend.exit", { backend: this.#context.backend.name, code, signal, expected });
    const turn = this.#turn;
    if (why.expected || turn?.interrupting === true) {
      this.#cutTurn("interrupted");
    } else if (turn !== undefined || why.code !== 0) {
      if (turn?.verdict === undefined) this.#publishError("backend_crashed", why.message);
      this.#cutTurn("error", { code: "backend_crashed", message: why.message });
    }
    this.#move({ kind: "run_ended" });
    this.#noteBusy();
  }

  #beginTurn(origin: Turn["origin"], begun?: Handover["begun"]): Turn {
    const turn = createTurn(randomUUID().replaceAll("-", ""), Date.now(), origin);
    this.#turn = turn;
    this.#row.turn = { turn_id: turn.turn_id, started_at_ms: turn.started_at_ms };
    this.#row.last_active_at_ms = turn.started_at_ms;
    this.last_event_at_ms = turn.started_at_ms;
    begun?.(turn.turn_id);
    this.#saveRow();
    this.#move({ kind: "turn_started" });
    this.#onRequests(); // one may wait from before
    return turn;
  }

  #announce(turn: Turn): void {
    turn.announced = true;
    this.#publish(startedNotice(turn, this.#context.backend.name));
  }

  #forgetTurn(): void {
    this.#turn = undefined;
    delete this.#row.turn;
    this.#move({ kind: "turn_forgotten" });
    this.#saveRow();
  }

  /** The agent will say no more of it. */
  #cutTurn(subtype: "interrupted" | "error", error?: { code: string; message: string }): void {
    if (this.#turn === undefined) return;
    const { name } = this.#context.backend;
    for (const closing of closingResults(this.#turn, name)) this.#publish(closing);
    this.#finishTurn(syntheticResult(name, subtype, error));
  }

  #finishTurn(result: ResultEvent): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    if (!turn.announced) this.#announce(turn);
    const stamped = stampResult(turn, result);
    const nowMs = Date.now();
    if (stamped.subtype === "interrupted" && this.#asker !== undefined) {
      this.#context.ledger.interrupted(this.#asker); // mutation: interrupt-settles-requests
    }
    this.#turn = undefined;
    delete this.#row.turn;
    Object.assign(this.#row, addUsage(this.#row, stamped, nowMs), {
      last_active_at_ms: nowMs,
      last_result: lastResultOf(stamped, nowMs, turn.lastText),
    });
    this.#context.turnEnding(stamped);
    this.#context.publisher.publish(this.#context.stream, stamped, true);
    this.#saveRow();
    this.#move({ kind: "event", event: stamped });
    this.#onRequests();
  }

  #publish(event: AgentEvent): void {
    this.#context.publisher.publish(this.#context.stream, event);
    this.#move({ kind: "event", event });
  }

  #publishFrame(frame: object): void {
    this.#context.publisher.publish(this.#context.stream, frame);
  }

  #publishError(code: string, message: string): void {
    this.#log.info("error.emitted", { code });
    this.#publishFrame({ type: "blemeesd.error", backend: this.#context.backend.name, code, message });
  }

  #saveRow(): void {
    this.#context.publisher.saveRow(this.#context.stream);
  }

  #move(input: ActivityInput): void {
    const next = nextActivity(this.#activity, input);
    if (next === this.#activity) return;
    this.#activity = next;
    this.#context.hooks.changed(this.#row.session_id);
  }
}
