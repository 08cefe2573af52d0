// A session's agent process: performs run effects and reports output and outcomes to the core, which decides what they
// mean.

import type {
  Backend,
  BackendSink,
  Ended,
  RecordedName,
  Run,
  RunTraces,
  ToolCall,
  ToolOutcome,
} from "../../backends/types.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { endMark } from "../../base/runs/mark.ts";
import { defined } from "../../base/values.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Offers } from "../../protocol/settings.ts";
import type { SessionWorktree } from "../../protocol/worktrees.ts";
import type { RunEffect } from "../core/effects.ts";
import type { AdoptedRun, Happening } from "../core/inputs.ts";
import type { Failure } from "../core/state.ts";
import { makeTitle } from "../core/title.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Asker } from "../requests/types.ts";
import type { Stream } from "../stream/stream.ts";
import type { Extras } from "./extras.ts";
import { muteAfterEnd } from "./run-sink.ts";
import { startOrder } from "./start-order.ts";
import { StderrRate } from "./stderr-rate.ts";
import { type CallAbout, type OpenCalls, ToolCalls } from "./tool-calls.ts";

export interface AgentParts {
  backend: Backend;
  stream: Stream;
  ledger: Ledger;
  log: Log;
  stderrRate: { lines: number; windowMs: number };
  /** Environment of the agent's process: its identity and how to reach the daemon. */
  env: Record<string, string>;
  /** Runs `start` when the session limit allows another agent. */
  withRoom(start: () => Promise<void>): Promise<void>;
  /** Carries out a call of one of the daemon's tools. Never rejects. */
  callTool(session_id: string, call: ToolCall, about: CallAbout): Promise<ToolOutcome>;
  /** What the agent gets besides its options; absent: nothing. */
  extras?: Extras | undefined;
  /** Before an agent starts in the worktree of its session. */
  prepareWorktree?(worktree: SessionWorktree): Promise<void>;
  report(happening: Happening): void;
  /** Fast path for events, most of which bypass the reducer. */
  event(event: AgentEvent): void;
  /** The result comes next: frames so far need not wait for it. */
  ending(): void;
  /** Background work may have started or ended. */
  looked(): void;
}

/** Not at once: the next message often follows directly. */
const KEEP_AFTER_MS = 200;
/** Between turns that follow each other directly, only after this much output. */
const LAG_BYTES = 32 * 1024;
/** After these the agent may be at rest; some send notices after a turn. */
const PAUSES: ReadonlySet<string> = new Set(["agent.result", "agent.notice"]);

type StartEffect = RunEffect & { kind: "start" };

export class Agent {
  readonly #parts: AgentParts;
  readonly #stderr: StderrRate;
  readonly #calls: ToolCalls;
  #run: Run | undefined;
  /** This process in the ledger. */
  #asker: Asker | undefined;
  #keeping: NodeJS.Timeout | undefined;
  /** It has introduced itself. */
  #hasInit = false;
  #isAbandoned = false;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#stderr = new StderrRate(parts.stderrRate);
    this.#calls = new ToolCalls({
      run: (call, about) => this.#parts.callTool(this.#parts.stream.row.session_id, call, about),
      giveBack: (native_id, outcome) => this.#returnTool(native_id, outcome),
      log: parts.log,
    });
  }

  get pid(): number | undefined {
    return this.#run?.pid;
  }

  get traces(): RunTraces | undefined {
    return this.#run?.traces;
  }

  /** Background work is running. */
  get isBusy(): boolean {
    return this.#run?.isBusy === true;
  }

  get canSteer(): boolean {
    return this.#run?.canSteer === true;
  }

  /** What the running agent can be set to. */
  offers(): Offers | undefined | Promise<Offers | undefined> {
    return this.#run?.offers?.();
  }

  get asker(): Asker | undefined {
    return this.#asker;
  }

  async readQuota(): Promise<boolean> {
    return (await this.#run?.readQuota?.()) === true;
  }

  perform(effect: RunEffect): void {
    switch (effect.kind) {
      case "start":
        return void this.#start(effect);
      case "stop":
        return void this.#stop(effect);
      case "interrupt":
        return void this.#interrupt(effect.generation);
      case "adjust":
        return void this.#adjust(effect);
      case "give":
        return void this.#give(effect);
      case "rewind":
        return void this.#rewind(effect);
      case "steer":
        this.#steer(effect);
        break;
      case "take_back":
        this.#takeBack(effect.message_id);
        break;
      case "pause":
        if (effect.isPaused) this.#run?.pause();
        else this.#run?.resume();
    }
  }

  async #start(effect: StartEffect): Promise<void> {
    const { report, withRoom } = this.#parts;
    try {
      if (effect.needsRoom) await withRoom(() => this.#launch(effect));
      else await this.#launch(effect);
    } catch (error) {
      if (this.#run !== undefined) throw error; // already running: an effect failed, not the start
      report({ kind: "start_failed", generation: effect.generation, failure: toFailure(error) });
    }
  }

  async #launch({ generation, resume, options }: StartEffect): Promise<void> {
    const { backend, stream, env, log, report, prepareWorktree, extras } = this.#parts;
    const { worktree } = stream.row;
    const given = extras?.give(stream.row);
    if (worktree !== undefined) await prepareWorktree?.(worktree);
    let run: Run | undefined;
    let early: Ended | undefined;
    this.#hasInit = false;
    this.#asker = this.#makeAsker(generation, () => run);
    this.#calls.open(generation);
    const sink = this.#sink((why) => {
      if (run === undefined) early = why;
      else this.#onExit(generation, why);
    });
    const order = startOrder(stream.row, { resume, options, generation, env, log, ...given });
    const started = await backend.start(order, sink);
    if (early !== undefined) throw new CodedError("spawn_failed", (early as Ended).message);
    run = started;
    this.#connect(run);
    // Before its first message: from here on it can be adopted.
    this.#checkpoint(run);
    // Once more when the frames of its start are stored, which have no mark.
    this.#keepPlace(run);
    log.info("backend.spawn", { backend: backend.name, pid: run.pid, resume });
    report({ kind: "started", generation });
  }

  /** Continues with the agent of an earlier daemon. Its reports go to the returned sink. */
  adopt(
    run: Run,
    { generation, hasInit }: Pick<AdoptedRun, "generation" | "hasInit">,
    calls: OpenCalls,
  ): BackendSink {
    this.#hasInit = hasInit;
    this.#asker = this.#makeAsker(generation, () => run);
    this.#calls.open(generation);
    this.#connect(run);
    this.#calls.continue(calls);
    this.#keepPlace(run);
    return this.#sink((why) => this.#onExit(generation, why));
  }

  /** Leaves it to another daemon. Resolves when that can take it over. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    // The next daemon repeats what has no result.
    this.#calls.close();
    await this.#run?.keeper?.drained();
  }

  /** Writes down where the agent is, once its last turn is stored, so that a later daemon has less to repeat. */
  #keepPlace(run: Run): void {
    if (run.keeper === undefined) return;
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(async () => {
      await this.#parts.stream.settled();
      if (this.#run === run) this.#checkpoint(run);
    }, KEEP_AFTER_MS).unref();
  }

  #checkpoint(run: Run, minBytes?: number): void {
    // What it has read since is not stored.
    if (this.#isAbandoned) return;
    run.keeper?.checkpoint({ has_init: this.#hasInit, last_seq: this.#parts.stream.last_seq }, minBytes);
  }

  /** An agent with many messages is never at rest for long, but it is just before the next one. */
  #keepPlaceBetweenTurns(run: Run): void {
    if (this.#parts.stream.isSettled) this.#checkpoint(run, LAG_BYTES);
  }

  #connect(run: Run): void {
    this.#run = run;
    const { keeper } = run;
    this.#parts.stream.mark = keeper === undefined ? undefined : () => keeper.mark;
  }

  #makeAsker(generation: string, getRun: () => Run | undefined): Asker {
    const { stream, report, ledger } = this.#parts;
    const asker: Asker = {
      stream,
      generation,
      answer: async (native_id, answer) => {
        const run = getRun();
        const answering = async () => (await run?.answer?.(native_id, answer)) ?? false;
        return callAndRecord(run, "answer", [native_id, answer], answering);
      },
      changed: () => report({ kind: "requests", generation, open: ledger.listOpen(asker) }),
    };
    return asker;
  }

  #sink(ended: (why: Ended) => void): Parameters<Backend["start"]>[1] {
    const { report, event, ending, looked } = this.#parts;
    return muteAfterEnd({
      event: (said) => {
        event(said);
        looked();
        if (said.type === "agent.system_init") this.#hasInit = true;
        if (PAUSES.has(said.type) && this.#run !== undefined) this.#keepPlace(this.#run);
      },
      ending,
      used: (used) => report({ kind: "used", ...used }),
      steered: (message_id, how) => report({ kind: "steered", message_id, how }),
      turnStarted: () => report({ kind: "turn_started" }),
      stderr: (line) => {
        for (const shown of this.#stderr.take(line)) report({ kind: "stderr", line: shown });
      },
      authFailed: (message) => report({ kind: "auth_failed", message }),
      calmed: looked,
      ask: (ask) => report({ kind: "asked", ask }),
      toolCalled: (call) => this.#calls.start(call),
      withdrawn: (native_id, because) => {
        if (!this.#calls.drop(native_id)) report({ kind: "withdrawn", native_id, because });
      },
      nativeId: (native_session_id) => report({ kind: "native_id", native_session_id }),
      ended,
    });
  }

  #onExit(generation: string, why: Ended): void {
    const { backend, log, report, stream } = this.#parts;
    const keeper = this.#run?.keeper;
    this.#run = undefined;
    this.#calls.close();
    // Stored with what its end leads to: a later daemon must not report it again.
    const mark = keeper === undefined ? undefined : endMark(keeper.mark.run_id);
    stream.mark = mark && (() => mark);
    const { code, signal, expected } = why;
    log.info("backend.exit", { backend: backend.name, code, signal, expected });
    report({ kind: "ended", generation, why });
    if (keeper !== undefined) void stream.settled().then(() => keeper.release());
  }

  async #stop({ generation, how }: RunEffect & { kind: "stop" }): Promise<void> {
    try {
      await this.#run?.stop(how);
    } catch (error) {
      this.#parts.log.error("session.stop_failed", { message: toMessage(error) });
    }
    this.#parts.report({ kind: "stopped", generation });
  }

  async #returnTool(native_id: string, outcome: ToolOutcome): Promise<void> {
    const run = this.#run;
    await callAndRecord(run, "return_tool", [native_id, outcome], () =>
      run?.returnTool?.(native_id, outcome),
    );
  }

  async #interrupt(generation: string): Promise<void> {
    try {
      const run = this.#run;
      await callAndRecord(run, "interrupt", [], () => run?.interrupt());
    } catch (error) {
      this.#parts.log.error("session.interrupt_failed", { message: toMessage(error) });
    }
    this.#parts.report({ kind: "interrupted", generation });
  }

  async #rewind({ job_id, turns }: RunEffect & { kind: "rewind" }): Promise<void> {
    const { backend, report } = this.#parts;
    const run = this.#run;
    const outcome = await callAndRecord(run, "rewind", [turns], () => run?.rewind?.(turns));
    report({
      kind: "rewound",
      job_id,
      outcome: outcome ?? { reason: `${backend.name} cannot forget turns` },
    });
  }

  #steer({ message, message_id }: RunEffect & { kind: "steer" }): void {
    const run = this.#run;
    if (run?.steer === undefined) this.#parts.report({ kind: "steered", message_id, how: "returned" });
    else callAndRecord(run, "steer", [message, message_id], () => run.steer?.(message, message_id));
  }

  #takeBack(message_id: string): void {
    const run = this.#run;
    if (run?.takeBack === undefined) this.#parts.report({ kind: "kept", message_id });
    else callAndRecord(run, "take_back", [message_id], () => run.takeBack?.(message_id));
  }

  async #adjust({ job_id, change, options }: RunEffect & { kind: "adjust" }): Promise<void> {
    const { report, backend } = this.#parts;
    try {
      const run = this.#run;
      if (run?.adjust === undefined) {
        const why = `${backend.name} takes settings only when it starts; stop the session, then change them`;
        throw new CodedError("setting_refused", why);
      }
      await callAndRecord(run, "adjust", [change, options], () => run.adjust?.(change, options));
    } catch (error) {
      return report({ kind: "adjusted", job_id, failure: toFailure(error) });
    }
    report({ kind: "adjusted", job_id });
  }

  async #give({ turn_id, message, job_id, entry }: RunEffect & { kind: "give" }): Promise<void> {
    const { report } = this.#parts;
    const whose = { turn_id, ...defined({ job_id }) };
    try {
      const run = this.#run;
      if (run === undefined) throw new CodedError("agent_gone", "the agent has ended");
      this.#keepPlaceBetweenTurns(run);
      await callAndRecord(run, "send", [message, turn_id], () => run.send(message, { turn_id }));
    } catch (error) {
      const failure = toFailure(error);
      return report({ kind: "not_taken", ...whose, failure, ...defined({ entry }) });
    }
    // Generated text is never used as the title.
    const title = entry?.kind === "wake" ? undefined : makeTitle(message);
    report({ kind: "taken", ...whose, ...defined({ title }) });
  }
}

function callAndRecord<T>(run: Run | undefined, name: RecordedName, args: unknown[], make: () => T): T {
  return run?.keeper === undefined ? make() : run.keeper.record(name, args, make);
}

function toFailure(error: unknown): Failure {
  if (!(error instanceof CodedError)) return { code: "internal", message: toMessage(error) };
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}
