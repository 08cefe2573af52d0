// The one path of a request (DESIGN §5): asked by an agent, stored, shown, answered by any surface, dispatched from
// the store, at most once. Steps of one request go one after another; what a step means is states.ts.
import { randomUUID } from "node:crypto";
import type { Ask } from "../../backends/types.ts";
import { within } from "../../base/child.ts";
import { CodedError, messageOf } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { Serial } from "../../base/serial.ts";
import { type Answer, isSettled, type RequestRow, type ResolutionSource } from "../../protocol/requests.ts";
import type { Store } from "../../store/types.ts";
import { waitingOf } from "../core/refusals.ts";
import type { OpenRequest } from "../core/state.ts";
import type { Publisher } from "../stream/publish.ts";
import type { Stream } from "../stream/stream.ts";
import type { RequestsFilter, RequestsPage } from "../types.ts";
import { pageOfPending, pageOfStored } from "./list.ts";
import {
  checkAnswer,
  dispatched,
  expire,
  hashOf,
  orphan,
  pendingRow,
  policyAnswer,
  resolve,
  withdraw,
  withoutSecrets,
} from "./states.ts";
import { answered, changed, idsOf, lost, noticeOf, type Responded, responded } from "./words.ts";

/** Past this an agent is told no without anybody being asked. */
const MAX_OPEN_PER_RUN = 256;
const MAX_OPEN_CHARS = 32 * 1024 * 1024;
/** An agent that does not read its input must not hold up whoever answers. */
const DISPATCH_LIMIT_MS = 2000;
/** Between two tries to store what the disk did not take. */
const RETRY_MS = 2000;
/** The longest a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One life of one agent, as the ledger sees it. */
export interface Asker {
  readonly stream: Stream;
  readonly generation: string;
  /** False: it does not wait for this any more. */
  answer(native_id: string, answer: Answer): Promise<boolean>;
  /** What waits for an answer in this session is not what it was. */
  changed(): void;
}

export interface LedgerOptions {
  store: Store;
  publisher: Publisher;
  log: Log;
  /** How long a request waits before policy answers it; 0 is for ever. */
  expiryMs: number;
}

export interface RespondOrder {
  session_id: string;
  request_id: string;
  answer: Answer;
  shown_hash?: string;
  source: ResolutionSource;
}

interface Open {
  row: RequestRow;
  readonly asker: Asker;
  readonly native_id: string;
  readonly chars: number;
  readonly steps: Serial;
  /** The row is in the store, so it may be seen. */
  isShown: boolean;
  timer?: NodeJS.Timeout;
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #log: Log;
  readonly #open = new Map<string, Open>();
  /** Lives that are over, and why: what they asked can reach nobody. */
  readonly #gone = new WeakMap<Asker, { code: string; message: string }>();
  #isClosed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#log = options.log;
  }

  /** Never throws: what cannot be asked is refused, so that no agent waits for nothing. */
  ask(asker: Asker, ask: Ask): void {
    const mine = this.#of(asker).filter((open) => open.row.status === "pending");
    if (mine.some((open) => open.native_id === ask.native_id)) {
      // Saying no to the second would say no to the first.
      this.#log.warn("request.asked_twice", { session_id: asker.stream.session_id });
      return;
    }
    const chars = JSON.stringify(ask.payload).length;
    const allChars = mine.reduce((sum, open) => sum + open.chars, chars);
    if (mine.length >= MAX_OPEN_PER_RUN || allChars > MAX_OPEN_CHARS) {
      this.#refuse(asker, ask, `${mine.length} requests are open; no more, or no larger ones, are taken`);
      return;
    }
    const { row } = asker.stream;
    const open: Open = {
      row: pendingRow(ask, {
        request_id: `req_${randomUUID().replaceAll("-", "")}`,
        session_id: row.session_id,
        backend: row.backend,
        generation: asker.generation,
        ...(row.turn === undefined ? {} : { turn_id: row.turn.turn_id }),
        nowMs: Date.now(),
        ...(this.#options.expiryMs > 0 ? { expiresInMs: this.#options.expiryMs } : {}),
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

  withdrawn(asker: Asker, native_id: string, reason: string): void {
    for (const open of this.#of(asker)) if (open.native_id === native_id) this.#withdraw(open, reason); // mutation: agent-withdraws
  }

  /** The agent was stopped in the middle of what it did: it waits for nothing any more. */
  interrupted(asker: Asker): void {
    for (const open of this.#of(asker)) this.#withdraw(open, "the turn was interrupted");
  }

  /** That life of the agent is over. */
  ended(asker: Asker, message: string): void {
    const code = this.#isClosed ? "server_restarted" : "agent_gone";
    this.#gone.set(asker, { code, message });
    for (const open of this.#of(asker)) {
      // Behind an answer that is on its way: only what never arrived is left then.
      this.#step(open, async () => {
        if (!isSettled(open.row)) await this.#settle(open, orphan(open.row, code, message)); // mutation: death-settles-requests
      });
    }
  }

  /** The answer that counts: this one, or an earlier one (`repeated`). Throws a code for everything else. */
  async respond(order: RespondOrder): Promise<Responded> {
    const open = this.#open.get(order.request_id);
    if (open?.isShown !== true || open.row.session_id !== order.session_id) return this.#settled(order); // mutation: request-of-this-session
    return open.steps.begin(async () => {
      const { row } = open;
      if (row.status !== "pending") return answered(row, order.answer); // mutation: first-answer-wins
      const answer = checkAnswer(row, order.answer); // mutation: answer-is-checked
      if (order.shown_hash !== undefined && order.shown_hash !== row.shown_hash) throw changed(row); // mutation: answer-names-what-was-shown
      await this.#write(open, resolve(row, answer, order.source, Date.now()));
      this.#log.info("request.resolved", { ...idsOf(row), source: order.source });
      await within(DISPATCH_LIMIT_MS, this.#dispatch(open));
      if (open.row.status !== "resolved") return answered(open.row, order.answer);
      return responded(open.row, order.answer, false);
    });
  }

  /** What the agent of a session waits for, oldest first. */
  pendingOf(session_id: string): RequestRow[] {
    return this.pending().filter((row) => row.session_id === session_id);
  }

  /** What all agents wait for. */
  pending(): RequestRow[] {
    const shown = [...this.#open.values()].filter(({ row, isShown }) => isShown && row.status === "pending");
    return shown.map(({ row }) => row);
  }

  /** What this life of an agent has asked and nobody has settled, oldest first. */
  openOf(asker: Asker): OpenRequest[] {
    const mine = this.#of(asker).filter(({ row }) => !isSettled(row));
    return mine.map(({ row, isShown }) => ({
      ...waitingOf(row),
      isShown: isShown && row.status === "pending",
    }));
  }

  /** One page of what waits, or also of what is over. */
  list(filter: RequestsFilter): Promise<RequestsPage> {
    if (filter.orphaned !== true && filter.settled !== true) {
      const shown = [...this.#open.values()].filter(({ isShown }) => isShown);
      return pageOfPending(
        shown.map(({ row }) => row),
        filter,
      );
    }
    return pageOfStored(this.#options.store, filter, (row) => withoutSecrets(this.#known(row)));
  }

  /** One request, whole, whatever its state. */
  async find(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    const open = this.#open.get(request_id);
    if (open?.isShown === true && (session_id ?? open.row.session_id) === open.row.session_id) {
      return withoutSecrets(open.row);
    }
    if (session_id === undefined) return undefined;
    const row = await this.#options.store.request(session_id, request_id);
    return row === undefined ? undefined : withoutSecrets(this.#known(row));
  }

  /** Resolves when every step of the session's requests that was begun so far is done. */
  async idle(session_id: string): Promise<void> {
    const steps = [...this.#open.values()].filter(({ row }) => row.session_id === session_id);
    await Promise.all(steps.map((open) => open.steps.idle()));
  }

  /** The session is gone. What the disk did not take of its requests is told when it is opened again. */
  release(session_id: string): void {
    for (const { row, timer } of this.#open.values()) {
      if (row.session_id !== session_id) continue;
      clearTimeout(timer);
      this.#open.delete(row.request_id);
    }
  }

  /** The daemon stops: no more timers, and what is open when its agent ends is so because of that. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
  }

  /**
   * Steps of one request, one after another; none any more once it is forgotten. With nothing in its way a step begins
   * at once, so that its frame stands in front of what the agent says next.
   */
  #step(open: Open, step: () => Promise<void>): void {
    const stepping = open.steps.begin(async () => {
      if (this.#open.get(open.row.request_id) === open) await step();
    });
    stepping.catch((error: unknown) =>
      this.#log.error("request.step_failed", { ...idsOf(open.row), message: messageOf(error) }),
    );
  }

  async #show(open: Open, ask: Ask): Promise<void> {
    const failure = await this.#store(open, open.row);
    if (failure !== undefined) {
      this.#open.delete(open.row.request_id);
      this.#refuse(open.asker, ask, `the request could not be stored: ${failure}`);
      return;
    }
    open.isShown = true;
    open.asker.changed();
    this.#log.info("request.pending", { ...idsOf(open.row), request_type: open.row.request_type });
    // It may have ended while the row was on its way.
    const gone = this.#gone.get(open.asker);
    if (gone !== undefined) await this.#settle(open, orphan(open.row, gone.code, gone.message));
    else if (open.row.expires_at_ms !== undefined) this.#startTimer(open, open.row.expires_at_ms);
  }

  #startTimer(open: Open, untilMs: number): void {
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

  async #expire(open: Open): Promise<void> {
    if (open.row.status !== "pending") return;
    const failure = await this.#store(open, expire(open.row));
    if (failure !== undefined) {
      // Nothing may be said that is not stored; the disk may be back in a while.
      this.#startTimer(open, Date.now() + RETRY_MS);
      return;
    }
    this.#log.info("request.expired", idsOf(open.row));
    await within(DISPATCH_LIMIT_MS, this.#dispatch(open)); // mutation: policy-answers-expired
  }

  /** Says to the agent what the store has. */
  async #dispatch(open: Open): Promise<void> {
    const stored = await this.#stored(open);
    const isIntact = stored !== undefined && hashOf(stored.payload) === open.row.shown_hash; // mutation: stored-is-what-was-shown
    if (!isIntact) this.#log.error("request.changed", idsOf(open.row));
    const answer = isIntact ? (stored.answer ?? policyAnswer(open.row)) : policyAnswer(open.row);
    const outcome = await open.asker.answer(open.native_id, answer).catch((error: unknown) => {
      this.#log.warn("request.dispatch_failed", { ...idsOf(open.row), message: messageOf(error) });
      return "unreachable" as const;
    });
    // Its agent ended while it did not take the answer.
    if (isSettled(open.row)) return; // mutation: dispatched-once
    if (outcome === true && isIntact) await this.#delivered(open);
    else await this.#settle(open, this.#undelivered(open, outcome));
  }

  #undelivered({ row, asker }: Open, outcome: boolean | "unreachable"): RequestRow {
    if (outcome === true) return orphan(row, "request_changed", "what was stored is not what was shown");
    const gone = this.#gone.get(asker);
    if (gone !== undefined) return orphan(row, gone.code, gone.message);
    if (outcome === "unreachable") return orphan(row, "agent_gone", "the agent could not be reached");
    return withdraw(row, "the agent took it back first");
  }

  async #delivered(open: Open): Promise<void> {
    // A resolved one was told when it was stored; an expired one is resolved only now.
    const isNews = open.row.status === "expired";
    await this.#finish(open, dispatched(open.row, Date.now()), isNews);
  }

  async #stored(open: Open): Promise<RequestRow | undefined> {
    try {
      return await this.#options.store.request(open.row.session_id, open.row.request_id);
    } catch (error) {
      // It was acknowledged as stored, so what we hold is what it is.
      this.#log.warn("request.unreadable", { ...idsOf(open.row), message: messageOf(error) });
      return open.row;
    }
  }

  #withdraw(open: Open, reason: string): void {
    this.#step(open, async () => {
      if (open.row.status === "pending") await this.#settle(open, withdraw(open.row, reason));
    });
  }

  /** The end of a request that no answer reached. */
  async #settle(open: Open, next: RequestRow): Promise<void> {
    this.#log.info("request.settled", { ...idsOf(next), status: next.status, error_code: next.error_code });
    await this.#finish(open, next, true); // mutation: orphan-is-reported
  }

  /** Nothing changes any more. It is so even while the disk does not take it; that is tried until it does. */
  async #finish(open: Open, next: RequestRow, isNews: boolean): Promise<void> {
    clearTimeout(open.timer);
    open.row = next;
    open.asker.changed();
    const { publisher } = this.#options;
    const notice = isNews ? noticeOf(next) : undefined;
    const failure = await publisher.publishRequest(open.asker.stream, next, notice);
    if (failure === undefined) {
      this.#open.delete(next.request_id);
      return;
    }
    this.#log.error("request.store_failed", { ...idsOf(next), message: failure });
    open.timer = setTimeout(() => this.#step(open, () => this.#finish(open, next, isNews)), RETRY_MS); // mutation: refused-write-is-tried-again
    open.timer.unref();
  }

  async #write(open: Open, next: RequestRow): Promise<void> {
    const failure = await this.#store(open, next);
    if (failure === undefined) return; // mutation: unstored-answer-is-refused
    throw new CodedError("store_failed", `the answer could not be stored, so it was not given: ${failure}`);
  }

  async #store(open: Open, next: RequestRow): Promise<string | undefined> {
    const { stream } = open.asker;
    const failure = await this.#options.publisher.publishRequest(stream, next, noticeOf(next)); // mutation: row-with-its-notice
    if (failure !== undefined) return failure;
    open.row = next;
    open.asker.changed();
    return undefined;
  }

  #of(asker: Asker): Open[] {
    return [...this.#open.values()].filter((open) => open.asker === asker);
  }

  #refuse(asker: Asker, ask: Ask, why: string): void {
    this.#log.warn("request.refused", { session_id: asker.stream.session_id, why });
    const { backend } = asker.stream.row;
    const text = `"${ask.payload.title}" was refused without asking: ${why}`;
    this.#options.publisher.publish(asker.stream, {
      type: "agent.notice",
      backend,
      level: "warn",
      category: "request_refused",
      text,
    });
    asker.changed();
    void asker.answer(ask.native_id, policyAnswer(ask)).catch(() => undefined);
  }

  async #settled({ session_id, request_id, answer }: RespondOrder): Promise<Responded> {
    const row = await this.#options.store.request(session_id, request_id);
    if (row === undefined) {
      throw new CodedError("request_unknown", `session ${session_id} has no request ${request_id}`);
    }
    return answered(this.#known(row), answer);
  }

  /** A stored row as it is now: what is open and nobody's here lost its agent, though the disk did not take that. */
  #known(row: RequestRow): RequestRow {
    const open = this.#open.get(row.request_id);
    if (open !== undefined) return open.row;
    return isSettled(row) ? row : lost(row);
  }
}
