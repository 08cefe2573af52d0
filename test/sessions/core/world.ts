// The environment of a session's core, made of data: an agent, a disk and clients that follow a list of commands.
// Effects are carried out here, their outcomes wait until a command releases them, and the rules are checked along the
// way.
import type { AgentEvent, ResultEvent } from "../../../src/protocol/events.ts";
import type { QueuedMessage } from "../../../src/protocol/queue.ts";
import type { SessionRow } from "../../../src/protocol/session.ts";
import type { BudgetFacts } from "../../../src/sessions/core/budget.ts";
import type { Effect } from "../../../src/sessions/core/effects.ts";
import type { Happening, TimerName } from "../../../src/sessions/core/inputs.ts";
import type { CloseCondition, Job } from "../../../src/sessions/core/jobs.ts";
import type { QuotaOrder } from "../../../src/sessions/core/quota.ts";
import type { Reduced } from "../../../src/sessions/core/reduce.ts";
import {
  getQueue,
  isWaitingQuota,
  type OpenRequest,
  type SessionState,
} from "../../../src/sessions/core/state.ts";
import { rowOf } from "../fakes.ts";
import { RunLog } from "./run-log.ts";

/** The code under test: the real one, or one with a bug. */
export interface Core {
  reduce(state: SessionState, input: Happening & { at_ms: number; id: string }): Reduced;
  restore(
    row: SessionRow,
    how: { at_ms: number; result?: AgentEvent & { type: "agent.result"; turn_id: string } },
  ): Reduced;
  toRow(state: SessionState): Omit<SessionRow, "last_seq">;
}

export type Command =
  | { do: "open"; client: string; resume: boolean; options: boolean }
  | { do: "send"; client: string }
  | { do: "leave"; client: string }
  | { do: "interrupt"; client: string | undefined }
  | { do: "enqueue"; wake: boolean; first: boolean }
  /** For the running turn. `can`: the agent takes messages during turns. */
  | { do: "steer"; can: boolean }
  | { do: "cancel"; which: number }
  | { do: "rest" | "halt" | "rewind" | "rename" | "archive" | "store" | "repeat" }
  | { do: "close"; if: "always" | "abandoned" | "idle" | "owner" | "shutdown" }
  | { do: "say"; what: What }
  | { do: "quota"; order: QuotaOrder["do"]; isAsked: boolean }
  | { do: "budget"; facts: BudgetFacts | undefined }
  | { do: "own_turn" | "ask" | "show" | "answer" | "withdraw" | "auth_failed" }
  | { do: "busy"; is: boolean }
  | { do: "die"; code: number }
  /** Lets the next outcome of a kind happen, well or badly. */
  | { do: "outcome"; of: Outcome["kind"]; isGood: boolean }
  | { do: "disk"; isGood: boolean }
  | { do: "pressure"; isFull: boolean }
  | { do: "owe"; isOwed: boolean }
  /** `isWritten`: the write in progress reached the disk. */
  | { do: "crash"; isWritten: boolean }
  /**
   * The daemon is killed and the agent is not: it says this before the next daemon adopts it. `isGone`: and then it ended.
   */
  | { do: "outlive"; isWritten: boolean; says: What[]; isGone: boolean };

export type What =
  | "text"
  | "thinking"
  | "tool"
  | "tool_done"
  | "init"
  | "notice"
  | "result"
  | "failure"
  | "limit"
  | "used";

type Outcome =
  | { kind: "start"; generation: string }
  | { kind: "stop"; generation: string }
  | { kind: "interrupt"; generation: string }
  | { kind: "give"; effect: Effect & { kind: "give" } }
  | { kind: "rewind"; job_id: string; turns: readonly string[] }
  | { kind: "steer"; message_id: string }
  | { kind: "back"; message_id: string }
  | { kind: "ledger"; job_id: string }
  | { kind: "timer"; name: TimerName };

/** Pending writes, in order. */
type Pending = { frame: object } | { write_id: string } | "row";

/** A client waiting for an answer. `messages`: how many had arrived before. */
interface Asked {
  happening: Happening;
  messages: number;
  message_id?: string;
}

interface Shown {
  category?: string;
  data?: { turn_id?: string };
}

interface LastInput {
  wake: boolean;
  first: boolean;
  steer?: boolean;
  message_id?: string;
}

/** A write in progress. */
interface Flight {
  items: Pending[];
  /** How much of the agent's output its frames come from. */
  mark: { log: RunLog; at: number } | undefined;
  row: Omit<SessionRow, "last_seq"> | undefined;
}

const BACKEND = "fake";
const HOUR_MS = 3_600_000;
/** The effects a closed session may still have: replies to waiting clients. */
const AFTER_CLOSE = new Set<Effect["kind"]>(["reply", "refuse", "acknowledge", "log", "input_changed"]);

/** How a sequence begins. */
export interface Start {
  managed: boolean;
  queued: "nothing" | "message" | "wakes";
}

export class World {
  readonly #core: Core;
  state: SessionState;
  #now = 1_000;
  #ids = 0;
  #outcomes: Outcome[] = [];
  #pending: Pending[] = [];
  #flight: Flight | undefined;
  /** The generation of the live process. */
  #alive: string | undefined;
  /** Its run directory. */
  #log = new RunLog();
  /** Turns that went on over a restart. */
  readonly #survived = new Set<string>();
  /** Clients of the earlier daemon may still reconnect. */
  #isAwaited = false;
  #open: OpenRequest[] = [];
  /** The contents of the disk. */
  #disk: Omit<SessionRow, "last_seq">;
  #stored: object[] = [];
  /** What clients have seen, stored or not. */
  readonly shown: Record<string, unknown>[] = [];
  /** Turns reported to clients. */
  #turns = new Set<string>();
  /** How often each queued message was taken by an agent. */
  readonly #taken = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #cancelled = new Set<string>();
  readonly #waiting = new Map<string, Asked>();
  #lastInput: LastInput | undefined;
  /** Turns reported as final, and the last turn reported with whether more work follows. */
  #ends = new Set<string>();
  #lastEnd: { turn_id: string; goesOn: boolean } | undefined;
  /** Messages and opens so far. */
  #messages = 0;
  hadTrouble = false;
  readonly seen = new Set<string>();

  constructor(core: Core, { managed, queued }: Start) {
    this.#core = core;
    const row = { ...rowOf("s"), backend: BACKEND, ...(managed ? { managed: true } : {}) };
    this.#disk = row;
    this.state = core.restore(row, { at_ms: this.#now }).state;
    if (managed) this.#job({ kind: "begin", job_id: this.#id("j") });
    if (queued === "message") this.run({ do: "enqueue", wake: false, first: false });
    // They are delivered as one.
    if (queued === "wakes") for (const _ of [1, 2]) this.run({ do: "enqueue", wake: true, first: false });
  }

  run(command: Command): void {
    this.#now += 1;
    switch (command.do) {
      case "open": {
        const { client, resume } = command;
        const options = command.options ? { options: { cwd: "/elsewhere" } } : {};
        this.#job({
          kind: "open",
          job_id: this.#id("j"),
          client_id: client,
          isGone: false,
          resume,
          ...options,
        });
        break;
      }
      case "send": {
        const message = { role: "user" as const, content: "hello" };
        // Half of the turns have a checkpoint first.
        const prepared = this.#now % 2 === 0 ? { isPrepared: true as const } : {};
        this.#job({ kind: "send", job_id: this.#id("j"), client_id: command.client, message, ...prepared });
        break;
      }
      case "leave":
        this.take({ kind: "left", client_id: command.client });
        break;
      case "interrupt": {
        const { client } = command;
        const job_id = this.#id("j");
        this.#ask(job_id, {
          kind: "interrupt",
          job_id,
          ...(client === undefined ? {} : { client_id: client }),
        });
        break;
      }
      case "enqueue":
        this.#enqueue(command);
        break;
      case "steer":
        this.#enqueue({ wake: false, first: false, steer: command.can });
        break;
      case "cancel": {
        const queue = this.state.row.queue ?? [];
        const entry = queue[command.which % Math.max(1, queue.length)];
        const job_id = this.#id("j");
        const message_id = entry?.message_id ?? "unknown";
        this.#ask(job_id, { kind: "cancel", job_id, message_id }, message_id);
        break;
      }
      case "rest":
        this.#job({ kind: "rest", job_id: this.#id("j") });
        break;
      case "rewind": {
        const turns = [1, 2].map((turn) => ({ turn, turn_id: this.#id("t") }));
        this.#job({ kind: "rewind", job_id: this.#id("j"), turns });
        break;
      }
      case "rename": {
        const job_id = this.#id("j");
        this.#ask(job_id, { kind: "mark", job_id, change: { name: this.#id("name") } });
        break;
      }
      case "archive": {
        const job_id = this.#id("j");
        this.#ask(job_id, { kind: "mark", job_id, change: { archived: true, add_labels: ["old"] } });
        break;
      }
      case "store": {
        const job_id = this.#id("j");
        this.#ask(job_id, { kind: "store", job_id });
        break;
      }
      case "repeat":
        if (this.#lastInput !== undefined) this.#enqueue({ ...this.#lastInput });
        break;
      case "halt":
        this.#job({ kind: "halt", job_id: this.#id("j"), isAsked: false });
        break;
      case "close":
        if (command.if === "owner") this.close({ owner: "ann" });
        else if (command.if === "shutdown") this.close("always", "shutdown");
        else this.close(command.if);
        break;
      case "say":
        this.#report(this.#said(command.what));
        break;
      case "quota": {
        const { order, isAsked } = command;
        const given: QuotaOrder =
          order === "postpone" ? { do: order, until_ms: this.#now + HOUR_MS } : { do: order };
        const job_id = this.#id("j");
        if (isAsked) this.#ask(job_id, { kind: "quota", order: given, job_id });
        else this.take({ kind: "quota", order: given });
        break;
      }
      case "budget":
        this.take({ kind: "budget", budget: command.facts });
        break;
      case "own_turn":
        this.#report({ kind: "turn_started" });
        break;
      case "auth_failed":
        this.#report({ kind: "auth_failed", message: "log in" });
        break;
      case "ask":
        this.#asks();
        break;
      case "show":
        this.#open = this.#open.map((request) => ({ ...request, isShown: true }));
        this.#tellRequests();
        break;
      case "answer":
      case "withdraw":
        this.#open = this.#open.slice(1);
        this.#tellRequests();
        break;
      case "busy":
        if (this.#isUp) this.#report({ kind: "busy", isBusy: command.is });
        break;
      case "die":
        if (this.#isUp) this.#die({ expected: false, message: "it died", code: command.code });
        break;
      case "outcome":
        this.#outcome(command.of, command.isGood);
        break;
      case "disk":
        this.#flush(command.isGood);
        break;
      case "pressure":
        this.take({ kind: "around", around: { ...this.state.around, isFull: command.isFull } });
        break;
      case "owe":
        this.take({ kind: "around", around: { ...this.state.around, isOwed: command.isOwed } });
        break;
      case "crash":
        this.#crash(command.isWritten);
        break;
      case "outlive":
        this.#outlive(command);
    }
  }

  close(condition: CloseCondition, reason = "owner_closed"): void {
    this.#job({ kind: "close", job_id: this.#id("j"), reason, if: condition });
  }

  /** The daemon no longer delivers anything. */
  quiet(): void {
    this.take({ kind: "around", around: { ...this.state.around, isQuiet: true } });
  }

  /** The agent exits as requested. */
  end(): void {
    if (this.#isUp) this.#die({ expected: true, message: "ended", code: 0 });
  }

  /** Lets all pending effects succeed until none is left. */
  settle(): void {
    if (this.state.budget?.isReading === true) this.take({ kind: "budget", budget: undefined });
    for (let round = 0; round < 500; round += 1) {
      this.#flush(true);
      const [next] = this.#outcomes;
      const isWriting = this.#flight !== undefined || this.#pending.length > 0;
      if (next === undefined && !isWriting) return;
      if (next !== undefined) this.#outcome(next.kind, true);
    }
    throw new Error("it never settles");
  }

  /** Applies an input and everything that follows from it, as the shell does. */
  take(happening: Happening): void {
    let next: Happening | undefined = happening;
    for (let steps = 0; next !== undefined; steps += 1) {
      if (steps > 200) throw new Error("it never ends");
      const before = this.state;
      const { state, effects } = this.#core.reduce(before, { ...next, at_ms: this.#now, id: this.#id("x") });
      this.state = state;
      this.#checkStep(before, state, effects);
      for (const effect of effects) this.#perform(effect);
      next =
        next.kind === "proceed" && state === before && effects.length === 0 ? undefined : { kind: "proceed" };
    }
  }

  /** Conditions that hold once nothing is pending. */
  checkEnd(): void {
    const results = this.shown.filter(({ type }) => type === "agent.result").map((frame) => frame["turn_id"]);
    const running = this.#core.toRow(this.state).turn?.turn_id;
    for (const turn_id of this.#turns) {
      const count = results.filter((id) => id === turn_id).length;
      const wanted = turn_id === running ? 0 : 1;
      // A result that the disk refused is reported again by the next daemon.
      if (this.hadTrouble ? count < wanted : count !== wanted) {
        throw new Error(`turn ${turn_id} has ${count} results`);
      }
    }
    this.#checkAnnounced();
    this.#checkDelivered(running);
    this.#checkReleased();
    this.#checkRunning();
    const { jobs, phase, run, row } = this.state;
    const isAtRest = running === undefined && run?.isBusy !== true && (row.queue ?? []).length === 0;
    if (row.quota_wait !== undefined && getQueue(row).length === 0)
      throw new Error("it waits for a limit without a message");
    if (isAtRest && this.#lastEnd?.goesOn === true)
      throw new Error(`turn ${this.#lastEnd.turn_id} was the end, and was not reported`);
    if (!this.hadTrouble && phase.name !== "closed") {
      const known = JSON.stringify(sorted(withoutUndelivered(this.#core.toRow(this.state))));
      const stored = JSON.stringify(sorted(withoutUndelivered(this.#disk)));
      if (known !== stored) throw new Error(`known and not stored: ${known} but ${stored}`);
    }
    if (jobs.length > 0) throw new Error(`job ${jobs[0]?.kind} is stuck in phase ${phase.name}`);
    if (this.#waiting.size > 0) throw new Error(`not answered ${[...this.#waiting.keys()].join()}`);
  }

  /** What has left the queue belongs to the turn that runs; the messages of other turns are done, failed or back. */
  #checkDelivered(running: string | undefined): void {
    for (const { message_id, state, turn_id } of this.state.row.inputs ?? [])
      if (state === "delivered" && turn_id !== running)
        throw new Error(`message ${message_id} left the queue for turn ${turn_id}, which does not run`);
  }

  /** A turn that goes on over a restart is announced by one of the daemons. */
  #checkAnnounced(): void {
    const counts = new Map<string, number>();
    for (const frame of this.#stored as Shown[]) {
      const { category, data } = frame;
      const { turn_id } = data ?? {};
      if (category === "task_started" && turn_id !== undefined)
        counts.set(turn_id, (counts.get(turn_id) ?? 0) + 1);
    }
    for (const [turn_id, count] of counts)
      if (count > 1) throw new Error(`turn ${turn_id} is announced ${count} times`);
    if (this.hadTrouble) return;
    // A turn that a restart ends need not be known.
    const ended = (this.#stored as Partial<ResultEvent>[]).filter(({ error }) => {
      return error?.code !== "backend_crashed";
    });
    for (const { type, turn_id = "" } of ended)
      if (type === "agent.result" && this.#survived.has(turn_id) && !counts.has(turn_id))
        throw new Error(`turn ${turn_id} was never announced`);
  }

  /** A turn that waits for an agent with nothing to do would last forever. */
  #checkRunning(): void {
    const { phase } = this.state;
    if (phase.name !== "turn" || !this.#isUp || this.#log.isDoubtful) return;
    if (this.#log.turn === undefined) throw new Error(`turn ${phase.turn.turn_id} never ends`);
  }

  /** Nothing keeps an idle agent running for nobody. */
  #checkReleased(): void {
    const { phase, run, row, owner, requests } = this.state;
    const isIdle = phase.name === "ready" && requests.length === 0 && run?.isBusy !== true;
    const isWanted = owner.client_id !== undefined || row.managed === true || (row.queue ?? []).length > 0;
    if (isIdle && !isWanted) throw new Error("an idle agent without a client is left running");
  }

  #checkStep(before: SessionState, state: SessionState, effects: readonly Effect[]): void {
    const wake = before.phase.name === "turn" ? before.phase.turn.wake : undefined;
    const isCut = wake !== undefined && state.phase.name === "stopping";
    this.#checkBegun(before, state);
    const [first] = state.jobs;
    if (isCut && first?.kind === "close" && first.reason === "shutdown") this.#checkWake(state, wake);
    if (before.phase.name !== state.phase.name) this.seen.add(`${before.phase.name} -> ${state.phase.name}`);
    if (state.requests.length > 0 && state.run === undefined)
      throw new Error("a request waits without an agent");
    if (before.phase.name === "closed") {
      const late = effects.find(({ kind }) => !AFTER_CLOSE.has(kind));
      if (late !== undefined) throw new Error(`a closed session asks for ${late.kind}`);
      if (state.phase.name !== "closed") throw new Error("a closed session lives again");
    }
    if (state.phase.name === "starting" && state.run?.isUp !== false)
      throw new Error("starting without a run");
    if (state.phase.name === "ready" && state.run?.isUp !== true) throw new Error("ready without a run");
    if (state.phase.name === "cold" && state.run !== undefined) throw new Error("cold with a run");
  }

  /** No message leaves the queue while a budget or a limit holds it. */
  #checkBegun(before: SessionState, state: SessionState): void {
    const isBegun = this.#core.toRow(before).turn === undefined && this.#core.toRow(state).turn !== undefined;
    if (!isBegun || getQueue(state.row).length >= getQueue(before.row).length) return;
    if (before.budget?.hold !== undefined) throw new Error("a turn begins beyond the budget");
    if (isWaitingQuota(before)) throw new Error("a turn begins before the limit is reset");
  }

  /** Nothing else would wake the session: the next daemon reports it again. */
  #checkWake({ row }: SessionState, { message_id }: { message_id: string }): void {
    if (row.stopped_at_ms !== undefined || message_id.endsWith("_again")) return;
    if (!row.queue?.some((entry) => entry.message_id === `${message_id}_again`))
      throw new Error(`wake ${message_id} is lost when the daemon stops`);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case "start":
        if (this.#alive !== undefined) throw new Error("two agents at once");
        this.#alive = effect.generation;
        this.#log = new RunLog();
        this.#outcomes.push({ kind: "start", generation: effect.generation });
        break;
      case "stop":
        if (this.#isAwaited && this.state.jobs[0]?.kind === "release")
          throw new Error("stopped before its clients could reconnect");
        this.#outcomes.push({ kind: effect.kind, generation: effect.generation });
        break;
      case "interrupt":
        this.#log.add({ kind: "call", call: "interrupt" });
        this.#outcomes.push({ kind: effect.kind, generation: effect.generation });
        break;
      case "rewind":
        if (this.#core.toRow(this.state).turn !== undefined)
          throw new Error("asked to forget turns while one runs");
        this.#outcomes.push({ kind: "rewind", job_id: effect.job_id, turns: effect.turns });
        break;
      case "give":
        this.#checkGiven(effect);
        this.#log.add({ kind: "call", call: "send", turn_id: effect.turn_id });
        this.#outcomes.push({ kind: "give", effect });
        break;
      case "steer":
        this.#checkSteered(effect.message_id);
        this.#log.add({ kind: "call", call: "steer", message_id: effect.message_id });
        this.#outcomes.push({ kind: "steer", message_id: effect.message_id });
        break;
      case "take_back":
        this.#outcomes.push({ kind: "back", message_id: effect.message_id });
        break;
      case "publish":
        this.#pending.push({ frame: effect.frame });
        break;
      case "save":
        this.#pending.push("row");
        break;
      case "write":
        this.#pending.push("row", { write_id: effect.write_id });
        break;
      case "settle":
        this.#pending.push({ write_id: effect.write_id });
        break;
      case "withdraw_all":
      case "orphan":
        this.#open = [];
        break;
      case "settle_ledger":
        this.#outcomes.push({ kind: "ledger", job_id: effect.job_id });
        break;
      case "set_timer":
        this.#outcomes = this.#outcomes.filter((one) => one.kind !== "timer" || one.name !== effect.name);
        this.#outcomes.push({ kind: "timer", name: effect.name });
        break;
      case "clear_timer":
        this.#outcomes = this.#outcomes.filter((one) => one.kind !== "timer" || one.name !== effect.name);
        break;
      case "input_changed": {
        const { message_id, state, outcome } = effect.input;
        // The agent did not answer it: it is given once more.
        if (state === "queued" && this.state.row.quota_wait?.message_ids.includes(message_id) === true)
          this.#taken.delete(message_id);
        if (state === "done" && outcome === "success" && !this.#reached.has(message_id)) {
          throw new Error(`${message_id} is done, and no agent ever got it`);
        }
        break;
      }
      case "turn_ended":
        this.#noteEnd(String(effect.result.turn_id), effect.goesOn);
        break;
      case "reply":
        this.#checkReply(effect);
        this.#answered(effect.job_id);
        break;
      case "own":
        this.#isAwaited = false;
        this.#answered(effect.job_id);
        break;
      case "refuse":
        this.#answered(effect.job_id);
        break;
      default:
    }
  }

  /** A message for a turn is given to its agent once, in that turn, when it is stored, and stays in the queue. */
  #checkSteered(message_id: string): void {
    const entry = this.#disk.queue?.find((one) => one.message_id === message_id);
    if (entry === undefined) throw new Error(`${message_id} is given to a turn, and not stored`);
    if (entry.for_turn !== this.#core.toRow(this.state).turn?.turn_id)
      throw new Error(`${message_id} is given to another turn than it is for`);
    if ((this.#taken.get(message_id) ?? 0) > 0) throw new Error(`${message_id} is given twice`);
    if (this.#outcomes.some((one) => one.kind === "steer" && one.message_id === message_id))
      throw new Error(`${message_id} is given to a turn twice`);
  }

  /** The agent takes a message into its turn, or begins one with it if the turn is over; or it does not. */
  #steered(message_id: string, isGood: boolean): void {
    if (this.#alive === undefined) return;
    const how = !isGood ? "returned" : this.#log.turn === undefined ? "next" : "taken";
    if (how !== "returned") this.#noteSteered(message_id);
    this.#report({ kind: "steered", message_id, how });
  }

  #noteSteered(message_id: string): void {
    if (this.#cancelled.has(message_id)) throw new Error(`${message_id} was called off`);
    this.#taken.set(message_id, (this.#taken.get(message_id) ?? 0) + 1);
    this.#reached.add(message_id);
  }

  /** A parent is notified once, when everything is done. */
  #noteEnd(turn_id: string, goesOn: boolean): void {
    if (this.#ends.has(turn_id)) throw new Error(`the end of turn ${turn_id} is reported twice`);
    if (!goesOn) this.#ends.add(turn_id);
    this.#lastEnd = { turn_id, goesOn };
  }

  #answered(job_id: string): void {
    if (!this.#waiting.delete(job_id)) throw new Error(`${job_id} is answered twice, or was never asked`);
  }

  /** Rules 2 and 5: a queued message goes to the agent once, and only after its leaving the queue is stored. */
  #checkGiven({ entry, turn_id }: Effect & { kind: "give" }): void {
    if (entry === undefined) return;
    for (const { message_id } of entry.merged ?? [entry]) this.#checkGivenMessage(message_id, turn_id);
  }

  #checkGivenMessage(message_id: string, turn_id: string): void {
    const record = this.#disk.inputs?.find((one) => one.message_id === message_id);
    // The owner's, which an earlier daemon did not give; it was never in the queue.
    const isOwners = message_id === turn_id;
    if (isOwners && this.#disk.turn?.turn_id !== turn_id)
      throw new Error(`${turn_id} is given, but not stored`);
    if (
      !isOwners &&
      (record?.state !== "delivered" || record.turn_id !== turn_id || this.#disk.turn?.turn_id !== turn_id)
    ) {
      throw new Error(`${message_id} is given before its leaving the queue is stored`);
    }
    if ((this.#taken.get(message_id) ?? 0) > 0) throw new Error(`${message_id} is given twice`);
    this.#reached.add(message_id);
    if (this.#cancelled.has(message_id)) throw new Error(`${message_id} was called off`);
  }

  /** Rule 5: nothing is reported as stored before it is. */
  #checkReply({ job_id, reply }: Effect & { kind: "reply" }): void {
    const asked = this.#waiting.get(job_id);
    const message_id = asked?.message_id;
    if (asked?.happening.kind === "enqueue" && typeof reply === "object") {
      if (!this.#disk.inputs?.some((one) => one.message_id === message_id))
        throw new Error("reported an unstored message");
    }
    if (asked?.happening.kind === "mark" && asked.happening.change.name === this.state.row.name) {
      if (this.#disk.name !== this.state.row.name) throw new Error("reported an unstored name");
    }
    if (asked?.happening.kind === "mark" && asked.happening.change.archived === true) {
      if (this.#disk.labels?.includes("old") !== true) throw new Error("reported an unstored label");
    }
    if (asked?.happening.kind === "cancel" && message_id !== undefined) {
      this.#cancelled.add(message_id);
      if (this.#disk.queue?.some((one) => one.message_id === message_id))
        throw new Error("reported an unstored cancel");
    }
    const job = asked?.happening.kind === "job" ? asked.happening.job : undefined;
    const isRewound = typeof reply === "object" && "first" in reply && reply.first !== undefined;
    if (job?.kind === "rewind" && isRewound && !this.hadTrouble) {
      const notices = this.#stored as { category?: string; data?: { turn_ids?: string[] } }[];
      if (
        !notices.some(
          ({ category, data }) => category === "conversation_rewound" && data?.turn_ids?.[0] === reply.first,
        )
      )
        throw new Error("reported turns as forgotten without a stored notice");
    }
    // A message that arrived since has started it again.
    const isStopped = asked?.messages === this.#messages && this.state.phase.name !== "closed";
    if (job?.kind === "halt" && isStopped && this.#disk.stopped_at_ms === undefined) {
      throw new Error("reported an unstored stop");
    }
  }

  #enqueue({ wake, first, steer, message_id = this.#id("m") }: LastInput & { message_id?: string }): void {
    this.#lastInput = { wake, first, message_id };
    const job_id = this.#id("j");
    const kind = wake ? "wake" : "user";
    const message = { role: "user", content: "x" } as const;
    const input = {
      message_id,
      kind,
      message,
      isFirst: first,
      ...(steer === undefined ? {} : { steer }),
    } as const;
    this.#ask(job_id, { kind: "enqueue", job_id, input }, message_id);
  }

  #job(job: Job & { job_id: string }): void {
    this.#ask(job.job_id, { kind: "job", job });
  }

  #ask(job_id: string, happening: Happening, message_id?: string): void {
    const isStart =
      happening.kind === "enqueue" || (happening.kind === "job" && happening.job.kind === "open");
    if (isStart) this.#messages += 1;
    const messages = this.#messages;
    this.#waiting.set(job_id, { happening, messages, ...(message_id === undefined ? {} : { message_id }) });
    this.take(happening);
  }

  #said(what: What): Happening {
    if (what === "used") return { kind: "used", cost_usd: 0.1 };
    const event = this.#event(what);
    if (what !== "limit") return { kind: "event", event };
    const { row } = this.state;
    const on_limit = row.on_limit ?? (row.managed === true ? "ask" : "fail");
    const quota = { on_limit, resets_at_ms: this.#now + HOUR_MS, max_wait_ms: 24 * HOUR_MS };
    return { kind: "event", event, quota };
  }

  #report(happening: Happening): void {
    if (this.#alive === undefined) return;
    this.#log.add({ kind: "said", happening });
    this.take(happening);
  }

  #event(what: Exclude<What, "used">): AgentEvent {
    const backend = BACKEND;
    const events: Record<Exclude<What, "used">, AgentEvent> = {
      text: { type: "agent.delta", backend, kind: "text", text: "a" },
      thinking: { type: "agent.delta", backend, kind: "thinking", text: "a" },
      tool: { type: "agent.tool_use", backend, tool_use_id: this.#id("t"), name: "x", input: {} },
      tool_done: { type: "agent.tool_result", backend, tool_use_id: "t1" },
      init: { type: "agent.system_init", backend, model: "m" },
      notice: { type: "agent.notice", backend, level: "info", category: "x" },
      result: { type: "agent.result", backend, subtype: "success", num_turns: 1 },
      failure: {
        type: "agent.result",
        backend,
        subtype: "error",
        num_turns: 1,
        error: { code: "x", message: "x" },
      },
      limit: {
        type: "agent.result",
        backend,
        subtype: "error",
        num_turns: 1,
        error: { code: "rate_limited", message: "later" },
      },
    };
    return events[what];
  }

  get #isUp(): boolean {
    const { run } = this.state;
    return this.#alive !== undefined && run?.generation === this.#alive && run.isUp;
  }

  #asks(): void {
    if (this.#alive === undefined || this.state.phase.name === "stopping") return;
    const request = {
      request_type: "command",
      requested_at_ms: this.#now,
      title: "may I?",
      isShown: false,
    } as const;
    this.#open = [...this.#open, { request_id: this.#id("r"), ...request }];
    this.#tellRequests();
  }

  #tellRequests(): void {
    if (this.#alive !== undefined) this.take({ kind: "requests", generation: this.#alive, open: this.#open });
  }

  #die(why: { expected: boolean; message: string; code?: number }): void {
    const generation = this.#alive;
    this.#alive = undefined;
    this.#open = [];
    if (generation !== undefined) this.take({ kind: "ended", generation, why });
  }

  #outcome(kind: Outcome["kind"], isGood: boolean): void {
    const next = this.#outcomes.find((one) => one.kind === kind);
    if (next === undefined) return;
    this.#outcomes = this.#outcomes.filter((one) => one !== next);
    switch (next.kind) {
      case "start":
        this.#started(next.generation, isGood);
        break;
      case "stop":
        if (this.#alive === next.generation) this.#die({ expected: true, message: "ended", code: 0 });
        this.take({ kind: "stopped", generation: next.generation });
        break;
      case "interrupt":
        // A failure: the agent died, or it never responds.
        if (this.#alive === next.generation && !isGood)
          this.#die({ expected: true, message: "killed", code: 0 });
        this.take({ kind: "interrupted", generation: next.generation });
        break;
      case "give":
        this.#given(next.effect, isGood);
        break;
      case "rewind": {
        const [first] = next.turns;
        const outcome = isGood && first !== undefined ? { first } : { reason: "no" };
        this.take({ kind: "rewound", job_id: next.job_id, outcome });
        break;
      }
      case "steer":
        this.#steered(next.message_id, isGood);
        break;
      case "back": {
        const given = this.#outcomes.find(
          (one) => one.kind === "steer" && one.message_id === next.message_id,
        );
        if (given === undefined) break;
        if (isGood) {
          this.#outcomes = this.#outcomes.filter((one) => one !== given);
          this.#steered(next.message_id, false);
        } else this.take({ kind: "kept", message_id: next.message_id });
        break;
      }
      case "ledger":
        this.take({ kind: "ledger_settled", job_id: next.job_id });
        break;
      case "timer":
        if (next.name === "reconnect") this.#isAwaited = false;
        this.take({ kind: "timer", timer: next.name });
        break;
    }
  }

  #started(generation: string, isGood: boolean): void {
    if (isGood) {
      this.#log.checkpoint(this.state.run?.hasInit === true);
      this.take({ kind: "started", generation });
      return;
    }
    this.#alive = undefined;
    this.#open = [];
    this.take({ kind: "start_failed", generation, failure: { code: "spawn_failed", message: "no" } });
  }

  #given({ turn_id, job_id, entry }: Effect & { kind: "give" }, isGood: boolean): void {
    const whose = { turn_id, ...(job_id === undefined ? {} : { job_id }) };
    if (isGood) {
      this.#noteTaken(entry);
      this.take({ kind: "taken", ...whose, title: "hello" });
      return;
    }
    this.#log.isDoubtful = true;
    // Half of them: it is what a message meets that goes back to the queue.
    const codes = ["invalid_message", "session_busy", "internal", "session_busy"];
    const failure = { code: codes[this.#ids % codes.length] ?? "internal", message: "no" };
    this.take({ kind: "not_taken", ...whose, failure, ...(entry === undefined ? {} : { entry }) });
  }

  #noteTaken(entry: QueuedMessage | undefined): void {
    if (entry === undefined) return;
    for (const { message_id } of entry.merged ?? [entry])
      this.#taken.set(message_id, (this.#taken.get(message_id) ?? 0) + 1);
  }

  /** The disk acknowledges its pending writes, then takes the newer ones. */
  #flush(isGood: boolean): void {
    const flight = this.#flight;
    this.#flight = undefined;
    if (flight !== undefined) this.#landed(flight, isGood);
    if (this.#flight !== undefined || this.#pending.length === 0) return;
    // The row is written in its current state.
    const row = this.#pending.some((item) => item === "row") ? this.#core.toRow(this.state) : undefined;
    const hasFrames = this.#pending.some((item) => typeof item === "object" && "frame" in item);
    const mark = hasFrames && this.#isUp ? { log: this.#log, at: this.#log.mark } : undefined;
    this.#flight = { items: this.#pending, row, mark };
    this.#pending = [];
  }

  #landed(flight: Flight, isGood: boolean): void {
    const { items, row } = flight;
    this.#write(flight, isGood);
    // What the disk refused goes with the next write.
    if (!isGood && row !== undefined) this.#pending.push("row");
    for (const item of items) {
      if (typeof item === "object" && "write_id" in item) {
        this.take({ kind: "written", write_id: item.write_id, isStored: isGood });
      }
    }
    if (this.#pending.length === 0 && this.#isUp && this.#open.length === 0)
      this.#log.checkpoint(this.state.run?.hasInit === true);
  }

  #write({ items, row, mark }: Flight, isGood: boolean): void {
    if (!isGood) this.hadTrouble = true;
    else if (mark !== undefined) mark.log.store(mark.at);
    for (const item of items) {
      if (typeof item !== "object" || !("frame" in item)) continue;
      this.shown.push(item.frame as Record<string, unknown>);
      if (isGood) this.#stored.push(item.frame);
      this.#noteTurn(item.frame);
    }
    if (isGood && row !== undefined) this.#disk = row;
  }

  #noteTurn(frame: object): void {
    const { category, data } = frame as Shown;
    if (category === "task_started" && data?.turn_id !== undefined) this.#turns.add(data.turn_id);
  }

  /** The daemon is killed: the next one knows only what is on disk. */
  #crash(isWritten: boolean): void {
    this.#alive = undefined;
    this.#open = [];
    const row = this.#forget(isWritten);
    const result = this.#stored.find(
      (frame) => "turn_id" in frame && frame.turn_id === row.turn?.turn_id && "num_turns" in frame,
    ) as (AgentEvent & { type: "agent.result"; turn_id: string }) | undefined;
    const found = result === undefined ? {} : { result };
    const { state, effects } = this.#core.restore(row, { at_ms: this.#now, ...found });
    this.state = state;
    for (const effect of effects) this.#perform(effect);
    // Only the same daemon knows that more work was to follow the last turn.
    this.#lastEnd = undefined;
    while (this.#flight !== undefined || this.#pending.length > 0) this.#flush(true);
    this.take({ kind: "proceed" });
  }

  /** The next daemon adopts the agent, as src/sessions/adopt.ts does. */
  #outlive({ says, isWritten, isGone }: Command & { do: "outlive" }): void {
    const generation = this.#alive;
    if (generation === undefined || !this.#isUp || !this.#log.canContinue) {
      this.#crash(isWritten);
      return;
    }
    for (const what of says) this.#log.add({ kind: "said", happening: this.#said(what) });
    const { turn } = this.#log;
    const { turn: stored, ...row } = this.#forget(isWritten);
    // Nothing came of it that a client could know.
    if (stored?.origin === "agent" && stored.is_announced !== true) this.#turns.delete(stored.turn_id);
    this.#lastEnd = undefined;
    this.#isAwaited = true;
    this.state = this.#core.restore(row, { at_ms: this.#now }).state;
    const { run, left } = this.#log.continue();
    const open = this.#open;
    this.take({
      kind: "adopted",
      run: {
        ...{ generation, open, ...run },
        ...(stored === undefined ? {} : { stored }),
        ...(isGone ? { isGone } : {}),
      },
    });
    for (const item of left) {
      this.#log.add(item);
      if (item.kind === "said") this.take(item.happening);
      else if (item.call !== "steer") this.take({ kind: "repeated", call: item.call });
    }
    // The agent still has them.
    for (const { message_id } of this.state.run?.steers ?? [])
      this.#outcomes.push({ kind: "steer", message_id });
    this.#tellRequests();
    if (isGone) this.#endUnseen();
    else this.#checkSurvived(turn, stored);
  }

  /** Everything it said was read; whatever the session did meanwhile, it gave the agent nothing new. */
  #endUnseen(): void {
    this.take({ kind: "proceed" });
    if (this.#outcomes.some(({ kind }) => kind === "give"))
      throw new Error("a dead agent was given a message");
    this.#die({ expected: false, message: "it ended" });
  }

  #checkSurvived(turn: RunLog["turn"], stored: SessionRow["turn"]): void {
    if (turn === undefined) return;
    const now = this.#core.toRow(this.state).turn;
    if (now === undefined) throw new Error("the agent is in a turn, and its session is not");
    const isStored = stored !== undefined && turn.turn_id === stored.turn_id;
    if (isStored && now.turn_id !== stored.turn_id) throw new Error(`turn ${stored.turn_id} did not go on`);
    this.#survived.add(now.turn_id);
  }

  /** The daemon is gone. Returns the row that the next one finds. */
  #forget(isWritten: boolean): SessionRow {
    // The agent has what it was given, although nobody has heard of it.
    for (const outcome of this.#outcomes) if (outcome.kind === "give") this.#noteTaken(outcome.effect.entry);
    if (this.#flight !== undefined && isWritten) this.#write(this.#flight, true);
    this.#pending = [];
    this.#flight = undefined;
    this.#outcomes = [];
    this.#waiting.clear();
    this.#ends.clear();
    this.#isAwaited = false;
    const row = { ...this.#disk, last_seq: 0 } as SessionRow;
    // The next daemon cannot know what was shown but not stored.
    const told = this.#stored.map((frame) => (frame as Shown).data?.turn_id);
    this.#turns = new Set([...this.#turns].filter((turn_id) => told.includes(turn_id)));
    if (row.turn !== undefined) this.#turns.add(row.turn.turn_id);
    return row;
  }

  #id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${this.#ids}`;
  }
}

/** That a message was given is stored with the next write. */
function withoutUndelivered<R extends Pick<SessionRow, "turn">>(row: R): R {
  if (row.turn === undefined) return row;
  const { undelivered: _given, ...turn } = row.turn;
  return { ...row, turn };
}

/** By field name, without those that only others write. */
function sorted(row: object): [string, unknown][] {
  const fields = Object.entries(row).filter(([name, value]) => name !== "last_seq" && value !== undefined);
  return fields.sort(([a], [b]) => (a < b ? -1 : 1));
}
