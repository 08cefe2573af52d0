// The one path of a request: asked by an agent, stored, shown, answered by any client, dispatched from the store at
// most once. Steps of one request run in sequence; states.ts defines what each step does.
import type { Ask } from "../../backends/types.ts";
import { waitAtMost } from "../../base/child.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { makeId } from "../../base/id.ts";
import type { Log } from "../../base/log.ts";
import { Serial } from "../../base/serial.ts";
import { isSettled, type RequestRow } from "../../protocol/requests.ts";
import type { OpenRequest } from "../core/state.ts";
import type { RequestsFilter, RequestsPage } from "../types.ts";
import {
  changedError,
  isSpawnRequest,
  pickIds,
  type Responded,
  toLost,
  toLostSpawn,
  toOwedNotice,
  toPolicyNotice,
  toRefusedNotice,
  toRepeatedResponse,
  toRequestNotice,
  toResponded,
} from "./frames.ts";
import { RequestReader } from "./reader.ts";
import {
  checkAnswer,
  createPendingRow,
  createRefusedRow,
  expire,
  hashPayload,
  makePolicyAnswer,
  markDispatched,
  orphan,
  resolve,
  toUndelivered,
  withdraw,
  withoutMark,
} from "./states.ts";
import type { AdoptedAsks, Asker, LedgerOptions, OpenEntry, RespondOrder } from "./types.ts";

/** Beyond this, requests are declined without asking. */
const MAX_OPEN_PER_RUN = 256;
const MAX_OPEN_CHARS = 32 * 1024 * 1024;
/** An agent that does not read its input must not block the answering client. */
const DISPATCH_LIMIT_MS = 2000;
/** Delay between attempts to store. */
const RETRY_MS = 2000;
/** Longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #log: Log;
  readonly #open = new Map<string, OpenEntry>();
  readonly #reader: RequestReader;
  /** Runs that have ended, and why: their requests can no longer be answered. */
  readonly #gone = new WeakMap<Asker, { code: string; message: string }>();
  #isClosed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#reader = new RequestReader(options.store, this.#open);
  }

  /** Never throws: a request that cannot be asked is refused, so that the agent does not wait forever. */
  ask(asker: Asker, ask: Ask): void {
    const mine = this.#reader.ofAsker(asker).filter((open) => open.row.status === "pending");
    if (mine.some((open) => open.native_id === ask.native_id)) {
      // Refusing the duplicate would also refuse the first.
      this.#log.warn("request.asked_twice", { session_id: asker.stream.session_id });
      return;
    }
    const chars = JSON.stringify(ask.payload).length;
    const allChars = mine.reduce((sum, open) => sum + open.chars, chars);
    if (mine.length >= MAX_OPEN_PER_RUN || allChars > MAX_OPEN_CHARS) {
      const why = `${mine.length} requests are pending; no more, or no larger ones, are accepted`;
      this.#refuse(asker, ask, why);
      return;
    }
    const { row } = asker.stream;
    const open: OpenEntry = {
      row: createPendingRow(ask, {
        request_id: makeId("req"),
        session_id: row.session_id,
        backend: row.backend,
        generation: asker.generation,
        ...(row.turn === undefined ? {} : { turn_id: row.turn.turn_id }),
        nowMs: Date.now(),
        expiresInMs: (row.request_timeout_s ?? this.#options.expiryMs / 1000) * 1000,
      }),
      asker,
      native_id: ask.native_id,
      chars,
      steps: new Serial(),
      isShown: false, // mutation: listed-when-stored
    };
    this.#open.set(open.row.request_id, open);
    this.#step(open, () => this.#show(open, ask));
    asker.changed();
  }

  /** Requests of an agent that outlived the daemon: they stay as they are, and continue from there. */
  adopt(asker: Asker, rows: readonly RequestRow[], past: AdoptedAsks): void {
    for (const row of rows) this.#adoptOne(asker, row, past);
    const known = new Set(rows.map(({ native_request_id }) => native_request_id));
    for (const ask of past.asks.values()) if (!known.has(ask.native_id)) this.ask(asker, ask);
    asker.changed();
  }

  #adoptOne(asker: Asker, row: RequestRow, { withdrawals, answered }: AdoptedAsks): void {
    const native_id = row.native_request_id ?? "";
    const chars = JSON.stringify(row.payload).length;
    const isShown = row.undecided !== true;
    const open: OpenEntry = { row, asker, native_id, chars, steps: new Serial(), isShown };
    this.#open.set(row.request_id, open);
    const reason = withdrawals.get(native_id);
    if (row.generation !== asker.generation) this.#step(open, () => this.#settle(open, toLost(row)));
    else if (isSpawnRequest(row)) this.#step(open, () => this.#settle(open, toLostSpawn(row)));
    else if (row.status === "pending" && reason !== undefined) this.#withdraw(open, reason);
    else if (!isShown) this.#step(open, () => this.#decide(open));
    else if (row.status !== "pending" && answered.has(native_id)) {
      this.#step(open, () => this.#onDelivered(open));
    } else if (row.status !== "pending") {
      this.#step(open, async () => void (await waitAtMost(DISPATCH_LIMIT_MS, this.#dispatch(open))));
    } else if (row.expires_at_ms !== undefined) this.#startTimer(open, row.expires_at_ms);
  }

  withdrawn(asker: Asker, native_id: string, reason: string): void {
    for (const open of this.#reader.ofAsker(asker))
      if (open.native_id === native_id) this.#withdraw(open, reason); // mutation: agent-withdraws
  }

  /** The agent was interrupted and no longer waits for anything. */
  withdrawAll(asker: Asker): void {
    for (const open of this.#reader.ofAsker(asker)) this.#withdraw(open, "the turn was interrupted");
  }

  /** This run of the agent has ended. `code`: `agent_gone`, unless the daemon's end is the reason. */
  orphanAll(asker: Asker, { message, code: known }: { message: string; code?: string }): void {
    const code = this.#isClosed ? "server_restarted" : (known ?? "agent_gone");
    this.#gone.set(asker, { code, message });
    for (const open of this.#reader.ofAsker(asker)) {
      // After answers in progress, so that only undelivered ones remain.
      this.#step(open, async () => {
        if (!isSettled(open.row)) await this.#settle(open, orphan(open.row, code, message)); // mutation: death-settles-requests
      });
    }
  }

  /** The answer that counts: this one, or an earlier one (`repeated`). Throws a CodedError otherwise. */
  async respond(order: RespondOrder): Promise<Responded> {
    const open = this.#open.get(order.request_id);
    if (open?.isShown !== true || open.row.session_id !== order.session_id)
      return this.#reader.respondSettled(order); // mutation: request-of-this-session
    return open.steps.begin(async () => {
      const { row } = open;
      if (row.status !== "pending") return toRepeatedResponse(row, order.answer); // mutation: first-answer-wins
      const answer = checkAnswer(row, order.answer); // mutation: answer-is-checked
      if (order.shown_hash !== undefined && order.shown_hash !== row.shown_hash) throw changedError(row); // mutation: answer-names-what-was-shown
      await this.#write(open, resolve(row, answer, order, Date.now()));
      this.#log.info("request.resolved", { ...pickIds(row), source: order.source, ...order.answered_by });
      await waitAtMost(DISPATCH_LIMIT_MS, this.#dispatch(open));
      if (open.row.status !== "resolved") return toRepeatedResponse(open.row, order.answer);
      return toResponded(open.row, order.answer, false);
    });
  }

  /** Pending requests of a session, oldest first. */
  listPending(session_id: string): RequestRow[] {
    return this.pending().filter((row) => row.session_id === session_id);
  }

  /** Pending requests of all sessions. */
  pending(): RequestRow[] {
    return this.#reader.pending();
  }

  /** Unsettled requests of this run, oldest first. */
  listOpen(asker: Asker): OpenRequest[] {
    return this.#reader.listOpen(asker);
  }

  /** One page of pending requests, optionally with settled ones. */
  list(filter: RequestsFilter): Promise<RequestsPage> {
    return this.#reader.list(filter);
  }

  /** One request in full, in any state. */
  find(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    return this.#reader.find(session_id, request_id);
  }

  /** Resolves when all steps started so far for the session's requests are done. */
  async idle(session_id: string): Promise<void> {
    const steps = [...this.#open.values()].filter(({ row }) => row.session_id === session_id);
    await Promise.all(steps.map((open) => open.steps.idle()));
  }

  /** The session was unloaded. Unsaved request states are reported when it is opened again. */
  release(session_id: string): void {
    for (const { row, timer } of this.#open.values()) {
      if (row.session_id !== session_id) continue;
      clearTimeout(timer);
      this.#open.delete(row.request_id);
    }
  }

  /** The daemon stops: no more timers; requests that are still pending when their agent ends get that reason. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
  }

  /**
   * Runs the steps of one request in sequence, and none after it is forgotten. If nothing is in progress the step
   * starts immediately, so that its frame precedes the agent's next output.
   */
  #step(open: OpenEntry, step: () => Promise<void>): void {
    const stepping = open.steps.begin(async () => {
      if (this.#open.get(open.row.request_id) === open) await step();
    });
    stepping.catch((error: unknown) =>
      this.#log.error("request.step_failed", { ...pickIds(open.row), message: toMessage(error) }),
    );
  }

  async #show(open: OpenEntry, ask: Ask): Promise<void> {
    const mayDecide = this.#options.policy?.mayDecide(open.row) === true;
    const failure = await this.#store(open, mayDecide ? { ...open.row, undecided: true } : open.row);
    if (failure === undefined) await (mayDecide ? this.#decide(open) : this.#onShown(open));
    else this.#onUnstored(open, ask, failure);
  }

  #onUnstored(open: OpenEntry, ask: Pick<Ask, "request_type" | "payload">, failure: string): void {
    this.#open.delete(open.row.request_id);
    const why = `the request could not be stored: ${failure}`;
    this.#refuse(open.asker, { ...ask, native_id: open.native_id }, why);
  }

  /** Between stored and shown: a rule may answer, in the same way as a person. Otherwise the request is shown. */
  async #decide(open: OpenEntry): Promise<void> {
    const { stream } = open.asker;
    const { policy, publisher } = this.#options;
    const ruling = await policy?.decide(open.row, stream.row);
    const fault = policy?.takeFault();
    if (fault !== undefined) publisher.publish(stream, toPolicyNotice(stream.row.backend, fault));
    const isGone = this.#gone.has(open.asker);
    if (ruling !== undefined && !isGone) {
      const { answer, rule_id } = ruling;
      const by = { source: "policy", answered_by: { actor: "daemon", via: "policy" }, rule_id } as const;
      const failure = await this.#store(open, resolve(open.row, answer, by, Date.now()));
      if (failure === undefined) {
        open.isShown = true;
        this.#log.info("request.resolved", { ...pickIds(open.row), source: "policy", rule_id });
        await waitAtMost(DISPATCH_LIMIT_MS, this.#dispatch(open));
        return;
      }
    }
    ruling?.release();
    const failure = await this.#store(open, withoutMark(open.row));
    if (failure === undefined) await this.#onShown(open);
    else this.#onUnstored(open, open.row, failure);
  }

  async #onShown(open: OpenEntry): Promise<void> {
    open.isShown = true;
    open.asker.changed();
    this.#log.info("request.pending", { ...pickIds(open.row), request_type: open.row.request_type });
    // It may have ended while the row was being stored.
    const gone = this.#gone.get(open.asker);
    if (gone !== undefined) await this.#settle(open, orphan(open.row, gone.code, gone.message));
    else if (open.row.expires_at_ms !== undefined) this.#startTimer(open, open.row.expires_at_ms);
  }

  #startTimer(open: OpenEntry, untilMs: number): void {
    const left = Math.max(0, untilMs - Date.now());
    open.timer = setTimeout(
      () => {
        if (left > MAX_TIMER_MS) this.#startTimer(open, untilMs);
        else this.#step(open, () => this.#expire(open));
      },
      Math.min(left, MAX_TIMER_MS),
    );
    open.timer.unref();
  }

  async #expire(open: OpenEntry): Promise<void> {
    if (open.row.status !== "pending") return;
    const failure = await this.#store(open, expire(open.row));
    if (failure !== undefined) {
      // Nothing may be announced before it is stored; retry later.
      this.#startTimer(open, Date.now() + RETRY_MS);
      return;
    }
    this.#log.info("request.expired", pickIds(open.row));
    await waitAtMost(DISPATCH_LIMIT_MS, this.#dispatch(open)); // mutation: policy-answers-expired
  }

  /** Sends the stored answer to the agent. */
  async #dispatch(open: OpenEntry): Promise<void> {
    const stored = await this.#readStored(open);
    const isIntact = stored !== undefined && hashPayload(stored.payload) === open.row.shown_hash; // mutation: stored-is-what-was-shown
    if (!isIntact) this.#log.error("request.changed", pickIds(open.row));
    const answer = isIntact ? (stored.answer ?? makePolicyAnswer(open.row)) : makePolicyAnswer(open.row);
    await this.#options.audit?.recordAnswer({ ...open.row, answer });
    const outcome = await open.asker.answer(open.native_id, answer).catch((error: unknown) => {
      this.#log.warn("request.dispatch_failed", { ...pickIds(open.row), message: toMessage(error) });
      return "unreachable" as const;
    });
    // Its agent ended before accepting the answer.
    if (isSettled(open.row)) return; // mutation: dispatched-once
    if (outcome === true && isIntact) await this.#onDelivered(open);
    else await this.#settle(open, toUndelivered(open.row, outcome, this.#gone.get(open.asker)));
  }

  async #onDelivered(open: OpenEntry): Promise<void> {
    // A resolved request was announced when it was stored; an expired one is resolved only now.
    const isNews = open.row.status === "expired";
    await this.#finish(open, markDispatched(open.row, Date.now()), isNews);
  }

  async #readStored(open: OpenEntry): Promise<RequestRow | undefined> {
    try {
      return await this.#options.store.request(open.row.session_id, open.row.request_id);
    } catch (error) {
      // The store has confirmed it, so the row in memory is accurate.
      this.#log.warn("request.unreadable", { ...pickIds(open.row), message: toMessage(error) });
      return open.row;
    }
  }

  #withdraw(open: OpenEntry, reason: string): void {
    this.#step(open, async () => {
      if (open.row.status === "pending") await this.#settle(open, withdraw(open.row, reason));
    });
  }

  /** Ends a request without an answer. */
  async #settle(open: OpenEntry, next: RequestRow): Promise<void> {
    this.#log.info("request.settled", { ...pickIds(next), status: next.status, error_code: next.error_code });
    await this.#finish(open, next, true); // mutation: orphan-is-reported
  }

  /** Final. It holds even while it cannot be stored; storing is retried. */
  async #finish(open: OpenEntry, next: RequestRow, isNews: boolean): Promise<void> {
    clearTimeout(open.timer);
    open.owed ??= toOwedNotice(open.row);
    open.row = next;
    open.asker.changed();
    const { publisher } = this.#options;
    const notice = isNews ? toRequestNotice(next) : undefined;
    const failure = await publisher.publishRequest(open.asker.stream, next, notice, open.owed);
    if (failure === undefined) {
      this.#open.delete(next.request_id);
      return;
    }
    this.#log.error("request.store_failed", { ...pickIds(next), message: failure });
    open.timer = setTimeout(() => this.#step(open, () => this.#finish(open, next, isNews)), RETRY_MS); // mutation: refused-write-is-tried-again
    open.timer.unref();
  }

  async #write(open: OpenEntry, next: RequestRow): Promise<void> {
    const failure = await this.#store(open, next);
    if (failure === undefined) return; // mutation: unstored-answer-is-refused
    throw new CodedError("store_failed", `the answer could not be stored, so it was not sent: ${failure}`);
  }

  async #store(open: OpenEntry, next: RequestRow): Promise<string | undefined> {
    const { stream } = open.asker;
    const notice = next.undecided === true ? undefined : toRequestNotice(next); // mutation: undecided-is-not-shown
    const owed = next.status === "pending" ? undefined : toOwedNotice(open.row);
    const failure = await this.#options.publisher.publishRequest(stream, next, notice, owed); // mutation: row-with-its-notice
    if (failure !== undefined) return failure;
    open.row = next;
    open.asker.changed();
    return undefined;
  }

  #refuse(asker: Asker, ask: Pick<Ask, "native_id" | "request_type" | "payload">, why: string): void {
    this.#log.warn("request.refused", { session_id: asker.stream.session_id, why });
    const { backend } = asker.stream.row;
    this.#options.publisher.publish(asker.stream, toRefusedNotice(backend, ask.payload.title, why));
    asker.changed();
    void this.#answerRefused(asker, ask).catch(() => undefined);
  }

  /** It has no row, but its answer is in the audit. */
  async #answerRefused(
    asker: Asker,
    ask: Pick<Ask, "native_id" | "request_type" | "payload">,
  ): Promise<void> {
    const { session_id, row } = asker.stream;
    const refused = createRefusedRow(ask, { session_id, backend: row.backend, generation: asker.generation });
    await this.#options.audit?.recordAnswer(refused);
    await asker.answer(ask.native_id, refused.answer);
  }
}
