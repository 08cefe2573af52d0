// One session: the shell around its core (core/). Calls become inputs; effects are performed here, by the agent, the
// ledger and the stream. Contains no decisions of its own.

import type { Backend, BackendSink, Rewound, Run, RunTraces } from "../backends/types.ts";
import { makeId } from "../base/id.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { NoticeData } from "../protocol/notices.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { QuotaWait } from "../protocol/quota.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { ActivityState, SessionRow } from "../protocol/session.ts";
import { Agent } from "./agent/agent.ts";
import type { OpenCalls } from "./agent/tool-calls.ts";
import { deriveActivity } from "./core/activity.ts";
import { type BudgetFacts, findBudgetHold } from "./core/budget.ts";
import type { AdoptedRun, Happening } from "./core/inputs.ts";
import type { AdjustJob, CloseCondition, Job, NumberedTurn } from "./core/jobs.ts";
import type { MarkChange } from "./core/marks.ts";
import type { NewInput } from "./core/queue.ts";
import { isLimit, type QuotaOrder } from "./core/quota.ts";
import { clientGoneError, notAllowedError, shutdownError } from "./core/refusals.ts";
import { createInitialState } from "./core/restore.ts";
import * as facts from "./core/state.ts";
import { passes } from "./core/turn-steps.ts";
import { Machine } from "./machine.ts";
import { toOpenJob } from "./open-job.ts";
import { Performer } from "./perform.ts";
import { projectRow } from "./project-row.ts";
import { PendingReplies } from "./replies.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { Asker, RespondOrder } from "./requests/types.ts";
import type { Receipt, SessionContext } from "./session-types.ts";
import { Audience } from "./stream/audience.ts";
import type { Feed } from "./stream/feed.ts";
import { Stream } from "./stream/stream.ts";
import { openTrace } from "./trace.ts";
import type { Client, OpenOrder, Subscriber } from "./types.ts";

export class Session {
  readonly row: SessionRow;
  readonly stream: Stream;
  readonly backend: Backend;
  readonly #context: SessionContext;
  readonly #log: Log;
  readonly #audience: Audience;
  readonly #agent: Agent;
  readonly #machine: Machine;
  readonly #replies = new PendingReplies();
  /** When the agent last produced output, or was released from waiting for an answer. */
  #heardAtMs: number | undefined;

  /** Continues with the agent of an earlier daemon and its calls; returns where its reports go. */
  adopt(run: Run, facts: AdoptedRun, calls: OpenCalls): BackendSink {
    const sink = this.#agent.adopt(run, facts, calls);
    this.#take({ kind: "adopted", run: facts });
    return sink;
  }

  /** The adopted agent was asked again what led to nothing stored. */
  repeated(call: "send" | "interrupt"): void {
    this.#take({ kind: "repeated", call });
  }

  /** The run of the agent, for the ledger. */
  get asker(): Asker | undefined {
    return this.#agent.asker;
  }

  /** Leaves its agent to another daemon. Resolves when that can take it over. */
  abandon(): Promise<void> {
    return this.#agent.abandon();
  }

  /** `left_at_ms`: set when no client is about to own it. */
  constructor(row: SessionRow, context: SessionContext, left_at_ms?: number) {
    this.row = row;
    this.backend = context.backend;
    this.#context = context;
    this.#log = context.log.with({ session_id: row.session_id });
    this.stream = new Stream({
      row,
      ringSize: context.ringSize,
      store: context.store,
      pressure: () => this.balance(),
      owed: () => {
        if (!this.isClosed) context.publisher.saveRow(this.stream);
      },
    });
    this.#audience = new Audience(this.stream);
    this.#agent = new Agent({
      ...context,
      stream: this.stream,
      log: this.#log,
      report: (happening) => this.#report(happening),
      event: (event) => this.#onEvent(event),
      ending: () => this.#sendNow(),
      looked: () => this.#lookAround(),
    });
    const performer = new Performer({
      ...context,
      row,
      stream: this.stream,
      agent: this.#agent,
      audience: this.#audience,
      replies: this.#replies,
      log: this.#log,
      take: (happening) => this.#take(happening),
    });
    const initial = createInitialState(row, defined({ left_at_ms }), context.ratesOf?.(row.backend));
    this.#machine = new Machine(initial, {
      perform: (effect) => performer.perform(effect),
      projected: (state, before) => projectRow(state, before, row),
      changed: () => context.hooks.onChange(row.session_id),
      isAbandoned: () => context.isAbandoned(),
      record: openTrace(context.traceDir, { row, left_at_ms }, this.#log),
    });
  }

  get state(): facts.SessionState {
    return this.#machine.state;
  }

  get owner(): Client | undefined {
    return this.#audience.owner?.client;
  }

  get pid(): number | undefined {
    return this.#agent.pid;
  }

  get traces(): RunTraces | undefined {
    return this.#agent.traces;
  }

  get activity(): ActivityState {
    return deriveActivity(this.state);
  }

  /** The agent's last sign of life; a turn that has just started counts. */
  get last_event_at_ms(): number | undefined {
    const startedAtMs = facts.getTurn(this.state)?.started_at_ms;
    if (startedAtMs === undefined || this.#heardAtMs === undefined) return this.#heardAtMs ?? startedAtMs;
    return Math.max(this.#heardAtMs, startedAtMs);
  }

  get isTurnActive(): boolean {
    return facts.getTurn(this.state) !== undefined;
  }

  get isRunning(): boolean {
    return facts.isRunning(this.state);
  }

  get isBusy(): boolean {
    return facts.isBusy(this.state);
  }

  /** Counts towards the session limit. */
  get isCounted(): boolean {
    return this.owner !== undefined || this.isRunning || facts.isClaimed(this.state);
  }

  /** Already counted, and will stay so: opening it needs no free slot. */
  get isKept(): boolean {
    if (this.owner !== undefined || facts.isClaimed(this.state)) return true;
    return this.isRunning && !facts.isResting(this.state);
  }

  get isClosed(): boolean {
    return facts.isClosing(this.state);
  }

  /** When it last had anything to do; undefined while something is going on. */
  get idleSinceMs(): number | undefined {
    this.#lookAround();
    return facts.getIdleSince(this.state, this.last_event_at_ms);
  }

  /** Since when its agent may be stopped to free a slot. */
  get restSinceMs(): number | undefined {
    this.#lookAround();
    return facts.getIdleSince(this.state, this.last_event_at_ms) ?? facts.getRestSince(this.state);
  }

  /** Requests waiting for an answer, oldest first. */
  get pending(): RequestRow[] {
    return this.#context.ledger.listPending(this.row.session_id);
  }

  get queued(): readonly QueuedMessage[] {
    return facts.getQueue(this.row);
  }

  /** Its queue waits for the reset of a limit. */
  get quotaWait(): QuotaWait | undefined {
    return facts.isWaitingQuota(this.state) ? this.row.quota_wait : undefined;
  }

  /** Why its queue is blocked. */
  get held(): string | undefined {
    return this.state.held?.message ?? findBudgetHold(this.state);
  }

  setBudget(budget: BudgetFacts | undefined): void {
    this.#take({ kind: "budget", budget });
  }

  /** Makes `client` the owner, with the agent running. If it fails, the previous owner keeps the session. */
  open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Feed> {
    const job_id = this.#replies.newId();
    const opened = this.#expect<Feed>(job_id, { client, subscriber });
    this.#take({ kind: "job", job: toOpenJob(job_id, client, order) });
    return opened;
  }

  watch(client: Client, subscriber: Subscriber, last_seen_seq: number | undefined): Feed {
    if (client.isGone === true) throw clientGoneError();
    return this.#audience.watch({ client, subscriber }, last_seen_seq);
  }

  unwatch(client: Client): boolean {
    return this.#audience.unwatch(client);
  }

  /** Resolves when the agent has read the message; never, if the agent is stuck. */
  send(client: Client, message: UserMessage): Promise<void> {
    const isPrepared = this.#context.hooks.preparesTurns(this.row) ? { isPrepared: true as const } : {};
    return this.#job((job_id) => ({ kind: "send", job_id, client_id: client.id, message, ...isPrepared }));
  }

  /** Starts the agent of an unowned session and stores its row. If it fails, the session never existed. */
  begin(): Promise<void> {
    return this.#job((job_id) => ({ kind: "begin", job_id }));
  }

  /** Stops an idle agent; the next message starts it again. Returns false if it is not idle. */
  rest(): Promise<boolean> {
    return this.#job((job_id) => ({ kind: "rest", job_id }));
  }

  /** Stops the agent until the next message or open. `isAsked`: requested by its parent. */
  halt({ isAsked }: { isAsked: boolean }): Promise<void> {
    return this.#job((job_id) => ({ kind: "halt", job_id, isAsked }));
  }

  /** Lets the agent forget these turns, its newest ones. Throws `session_busy`, `spawn_failed`. */
  rewind(turns: readonly NumberedTurn[]): Promise<Rewound> {
    return this.#job((job_id) => ({ kind: "rewind", job_id, turns }));
  }

  /** Closes the session. The condition is evaluated when the job runs; false means the session stays open. */
  close(reason: string, condition: CloseCondition = "always"): Promise<boolean> {
    return this.#job((job_id) => ({ kind: "close", job_id, reason, if: condition }));
  }

  /** Calls `acknowledged` before the turn's result is published. Without a client, it comes from a manager. */
  interrupt(client: Client | undefined, acknowledged: (was_idle: boolean) => void): Promise<void> {
    const job_id = this.#replies.newId();
    const over = this.#expect<void>(job_id, { acknowledged });
    this.#take({ kind: "interrupt", job_id, ...(client === undefined ? {} : { client_id: client.id }) });
    return over;
  }

  /** Resolves once stored. Throws `queue_full`, `idempotency_mismatch`, `store_failed`. */
  enqueue(input: Omit<NewInput, "message_id"> & { message_id?: string }): Promise<Receipt> {
    const { message_id = makeId("msg"), steer } = input;
    const order = { ...input, message_id, ...(steer === true ? { steer: this.#agent.canSteer } : {}) };
    return this.#ask((job_id) => ({ kind: "enqueue", job_id, input: order }));
  }

  /** Removes a message from the queue. Throws `message_unknown`, `store_failed`. */
  async cancel(message_id: string): Promise<InputRecord> {
    const { input } = await this.#ask<{ input: InputRecord }>((job_id) => ({
      kind: "cancel",
      job_id,
      message_id,
    }));
    return input;
  }

  /** Throws `session_busy` for a session at work that is to be archived, `invalid_message`, `store_failed`. */
  mark(change: MarkChange): Promise<void> {
    return this.#ask((job_id) => ({ kind: "mark", job_id, change }));
  }

  /** Throws `setting_refused`, `session_busy`, `store_failed`. */
  adjust(job: Omit<AdjustJob, "kind" | "job_id" | "stage">): Promise<void> {
    return this.#job((job_id) => ({ kind: "adjust", job_id, ...job }));
  }

  /** What the running agent can be set to. */
  readonly offers = () => this.#agent.offers();

  /** Writes the row, including fields that others have changed. Throws `store_failed`. */
  store(): Promise<void> {
    return this.#ask((job_id) => ({ kind: "store", job_id }));
  }

  /** Throws `quota_not_waiting`, `store_failed`. */
  orderQuota(order: QuotaOrder): Promise<void> {
    return this.#ask((job_id) => ({ kind: "quota", job_id, order }));
  }

  /** Asks the agent for its limits, without a turn. Starts it if somebody will use it. False: it does not run. */
  async readQuota(): Promise<boolean> {
    if (!this.isRunning) await this.#job((job_id) => ({ kind: "warm", waiters: [job_id], needsRoom: true }));
    await this.#agent.readQuota();
    return this.isRunning;
  }

  /** Bypasses the jobs, which may themselves be blocked on this answer. */
  respond(client: Client | undefined, order: RespondOrder): ReturnType<Ledger["respond"]> {
    if (this.#context.isAbandoned()) throw shutdownError();
    // Managers own no sessions and may only answer where everyone may, also while the owner is away.
    const isOwner = client !== undefined && this.owner === client;
    if (!isOwner && this.row.answers !== "any") throw notAllowedError(this.row.session_id); // mutation: only-the-owner-answers
    return this.#context.ledger.respond(order);
  }

  /** The client disconnected; without one, the owner is meant. */
  leave(client?: Client): void {
    if (client !== undefined) this.unwatch(client);
    this.#take({ kind: "left", ...(client === undefined ? {} : { client_id: client.id }) });
    this.balance();
  }

  /** Continues whatever the state allows. */
  goOn(): void {
    this.#take({ kind: "proceed" });
  }

  /** Re-evaluates backpressure. */
  balance(): void {
    this.#lookAround();
  }

  #job<T>(job: (job_id: string) => Job): Promise<T> {
    return this.#ask((job_id) => ({ kind: "job", job: job(job_id) }));
  }

  #ask<T>(happening: (job_id: string) => Happening): Promise<T> {
    const job_id = this.#replies.newId();
    const replied = this.#expect<T>(job_id);
    this.#take(happening(job_id));
    return replied;
  }

  #expect<T>(job_id: string, extras?: Parameters<PendingReplies["expect"]>[1]): Promise<T> {
    if (this.#context.isAbandoned()) return Promise.reject(shutdownError());
    return this.#replies.expect<T>(job_id, extras);
  }

  #take(happening: Happening): void {
    this.#lookAround();
    this.#machine.take(happening);
  }

  #lookAround(): void {
    const { isOwed, isOverfull } = this.stream;
    const isFull = isOverfull || this.#audience.owner?.isFull === true;
    const isQuiet = this.#context.isQuiet();
    const { around, run } = this.state;
    const { isBusy } = this.#agent;
    if (run !== undefined && run.isBusy !== isBusy) this.#machine.take({ kind: "busy", isBusy });
    if (around.isOwed === isOwed && around.isFull === isFull && around.isQuiet === isQuiet) return;
    this.#machine.take({ kind: "around", around: { isOwed, isFull, isQuiet } });
  }

  #report(happening: Happening): void {
    if (happening.kind === "requests" || happening.kind === "turn_started") this.#heardAtMs = Date.now();
    this.#take(happening);
    // One that the agent started: nothing can wait for it.
    const turn = facts.getTurn(this.state);
    const isOwn = happening.kind === "turn_started" && turn?.origin === "agent";
    const isNext = happening.kind === "steered" && happening.how === "next";
    if (turn !== undefined && (isOwn || isNext)) void this.#context.hooks.onTurnStart(this.row, turn.turn_id);
  }

  #onEvent(event: AgentEvent): void {
    this.#heardAtMs = Date.now();
    const { quota } = this.#context;
    if (quota !== undefined && event.type === "agent.result" && isLimit(event)) {
      this.#take({ kind: "event", event, quota: quota.describe(this.row, event) });
      return;
    }
    if (quota !== undefined && event.type === "agent.notice" && event.category === "rate_limits")
      quota.note(this.row, event.data as NoticeData<"rate_limits">);
    // Fast path: one call and no allocation when only the stream changes.
    if (this.#machine.isTaking || this.#context.traceDir !== undefined || !passes(this.state, event)) {
      this.#take({ kind: "event", event });
    } else this.#context.publisher.publish(this.stream, event);
  }

  #sendNow(): void {
    if (!this.#machine.isTaking) this.#context.publisher.flush(this.stream);
  }
}
