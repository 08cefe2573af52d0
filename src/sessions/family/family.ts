// Parents and children. What happens to a child is recorded in its row in the same write, and its parent is informed
// once (wake-delivery.ts). Also enforces family limits and detects stalled turns.
import { toMessage } from "../../base/coded-error.ts";
import { makeId } from "../../base/id.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { INTRODUCTION } from "../core/merge-wakes.ts";
import type { SessionHooks } from "../hooks.ts";
import { checkSpawn, type FamilyLimits } from "./kin.ts";
import { type Running, Stalls } from "./stalls.ts";
import { type DeliveryParts, dropWake, putWake, WakeDelivery } from "./wake-delivery.ts";
import {
  makeStallId,
  toInputWake,
  toRemovedWake,
  toRequestWake,
  toStallWake,
  toTurnWake,
  toWakeMessage,
  type WakeFacts,
  wakeId,
  wakesParent,
} from "./wakes.ts";

const RETRY_MS = 1000;
const MAX_CHECK_MS = 30_000;

/** What a family needs from the sessions. */
export interface FamilyParts extends DeliveryParts {
  /** Reads the family of a session. The returned function adds the sessions in memory as they are then. */
  family(session_id: string): Promise<() => ReadonlyMap<string, SessionRow>>;
  /** It is in memory. */
  isLoaded(session_id: string): boolean;
  /** Sessions whose agent is running. */
  running(): Iterable<Running>;
  lastAction?(session_id: string): Action | undefined;
  /** A turn has stalled, whether or not it has a parent. Never waits or throws. */
  stalled?(row: SessionRow, silentMs: number): void;
}

export interface FamilyOptions {
  limits: FamilyLimits;
  /** A running turn that is silent this long is reported as stalled; 0 disables. */
  stallMs: number;
  /** Delay before the first retry of a delivery. */
  retryMs?: number;
}

export class Family implements Pick<SessionHooks, "onTurnEnd" | "onRequest"> {
  readonly #parts: FamilyParts;
  readonly #options: FamilyOptions;
  readonly #delivery: WakeDelivery;
  readonly #stalls: Stalls;
  /** Turns that their own parent asked to stop. */
  readonly #stopped = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #isResumed = false;

  constructor(parts: FamilyParts, options: FamilyOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#delivery = new WakeDelivery(parts, options.retryMs ?? RETRY_MS);
    this.#stalls = new Stalls(options.stallMs);
  }

  /**
   * Marks the row, which the caller stores together with the result. `row.last_result` already belongs to this turn.
   * May be called again for the same turn if it does not continue after all.
   */
  onTurnEnd(row: SessionRow, result: ResultEvent, goesOn: boolean): void {
    const { session_id } = row;
    const silences = this.#stalls.onTurnEnd(session_id, result.turn_id);
    const stopped = this.#stopped.get(session_id);
    this.#stopped.delete(session_id);
    if (!wakesParent(row)) return;
    for (let number = 1; number <= silences && result.turn_id !== undefined; number += 1) {
      this.#delivery.recall(session_id, wakeId(session_id, makeStallId(result.turn_id, number)), row.parent);
    }
    const isParentsWish =
      result.subtype === "interrupted" && stopped !== undefined && stopped === result.turn_id;
    const wake = isParentsWish ? undefined : toTurnWake(row, result, this.#facts(session_id));
    const held = this.#delivery.release(session_id);
    if (held !== undefined && held !== wake?.wake_id) dropWake(row, held); // the turn continued to this end
    if (wake === undefined || (goesOn && (row.queue ?? []).length > 0)) return;
    putWake(row, wake);
    // Continues in the background: reported once it is idle, or after the next daemon start.
    if (goesOn) this.#delivery.hold(session_id, wake.wake_id);
    else this.#delivery.deliver(session_id);
  }

  /** A queued message that could not be delivered, so no turn will start. The caller stores the row. */
  onInputFailed(row: SessionRow, message_id: string, error: { code: string; message: string }): void {
    const wake = toInputWake(row, message_id, error, this.#facts(row.session_id));
    if (wake === undefined) return;
    putWake(row, wake);
    this.#delivery.deliver(row.session_id);
  }

  onRequest(row: SessionRow, request: RequestRow): void {
    const mayAnswer = row.parent !== undefined && this.#parts.row(row.parent)?.may_answer === true;
    const wake = toRequestWake(row, request, { ...this.#facts(row.session_id), mayAnswer });
    if (wake !== undefined) this.#delivery.add(row.session_id, wake);
  }

  /** A request is no longer pending: answered, expired, withdrawn or orphaned. */
  onSettled({ session_id, request_id }: Pick<RequestRow, "session_id" | "request_id">): void {
    const row = this.#parts.row(session_id);
    if (row?.turn !== undefined) this.#stalls.onAnswer(session_id, this.#parts.now());
    const recall = (found: SessionRow | undefined) => {
      if (found === undefined || !wakesParent(found)) return;
      this.#delivery.recall(session_id, wakeId(session_id, request_id), found.parent);
    };
    if (row !== undefined) recall(row);
    // Not in memory. Before `resume`, which looks for all wakes that are no longer true, there is nothing to do.
    else if (this.#isResumed) void this.#parts.find(session_id).then(recall, () => undefined);
  }

  /** The session was deleted while working; `by` as below. Its own row can no longer hold a wake. */
  async onRemoved(row: SessionRow, by: string | undefined): Promise<void> {
    const wake = toRemovedWake(row, this.#facts(row.session_id));
    if (wake === undefined || row.parent === undefined || row.parent === by) return;
    const { log, now } = this.#parts;
    try {
      await this.#parts.enqueue(row.parent, toWakeMessage(wake, row.session_id, now()));
    } catch (error) {
      log.warn("wake.dropped", { session_id: row.session_id, message: toMessage(error) });
    }
  }

  /** Sends a session's agent a message from the daemon. */
  async report(session_id: string, text: string): Promise<void> {
    await this.#parts.enqueue(session_id, {
      message_id: makeId("msg"),
      kind: "wake",
      message: {
        role: "user",
        content: `${INTRODUCTION} ${text}`,
      },
      brief: `- ${text}`,
      queued_at_ms: this.#parts.now(),
    });
  }

  /**
   * Called before a turn is interrupted or a session stopped. `by`: the session whose agent asked for it; absent for a
   * user.
   */
  noteStop(session_id: string, by: string | undefined): void {
    const row = this.#parts.row(session_id);
    if (row?.turn === undefined || by === undefined || row.parent !== by) return;
    this.#stopped.set(session_id, row.turn.turn_id);
  }

  /** At daemon start, with all unfinished rows: delivers what the previous daemon did not. */
  resume(unfinished: Iterable<SessionRow>): void {
    this.#isResumed = true;
    this.#delivery.resume(unfinished);
  }

  /**
   * Reads the family. The returned function throws `family_limit` if the session may not have more children,
   * `session_unknown` if it does not exist; it may be called later, and counts sessions that were added meanwhile.
   */
  async checkSpawn(parent_id: string): Promise<() => void> {
    const read = await this.#parts.family(parent_id);
    const { isLoaded } = this.#parts;
    return () => checkSpawn(parent_id, read(), this.#options.limits, isLoaded);
  }

  checkStalls(nowMs: number): void {
    if (this.#options.stallMs <= 0) return;
    for (const { row, ...silence } of this.#stalls.check(this.#parts.running(), nowMs)) {
      const { session_id } = row;
      this.#parts.log.warn("session.stalled", { session_id, silent_ms: silence.silentMs });
      this.#parts.stalled?.(row, silence.silentMs);
      const wake = toStallWake(row, silence, { ...this.#facts(session_id), nowMs });
      if (wake !== undefined) this.#delivery.add(session_id, wake);
    }
  }

  startStallChecks(): void {
    const { stallMs } = this.#options;
    if (stallMs <= 0 || this.#timer !== undefined) return;
    const everyMs = Math.max(20, Math.min(stallMs / 4, MAX_CHECK_MS));
    let lastMs = this.#parts.now();
    this.#timer = setInterval(() => {
      const nowMs = this.#parts.now();
      if (nowMs - lastMs > everyMs + Math.max(everyMs, MAX_CHECK_MS)) this.#stalls.startOver(nowMs);
      lastMs = nowMs;
      this.checkStalls(nowMs);
    }, everyMs);
    this.#timer.unref();
  }

  /** Resolves when every wake has been delivered. */
  idle(): Promise<void> {
    return this.#delivery.idle();
  }

  /** Rows are still marked; their wakes are delivered after the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#delivery.close();
  }

  #facts(session_id: string): WakeFacts {
    const { now, lastAction, row } = this.#parts;
    const hasTools = row(row(session_id)?.parent ?? "")?.manager === true;
    return { nowMs: now(), lastAction: lastAction?.(session_id), hasTools };
  }
}
