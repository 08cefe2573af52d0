// Parents and children (the EM pattern): what happens to a child is marked in its row in the same write, and its
// parent is told once (wake-delivery.ts). Also: how far a family may grow, and which turns have gone silent.
import { messageOf } from "../../base/coded-error.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SessionHooks } from "../hooks.ts";
import { ancestors, checkSpawn, type FamilyLimits } from "./kin.ts";
import { type Running, Stalls } from "./stalls.ts";
import { type DeliveryParts, dropWake, putWake, WakeDelivery } from "./wake-delivery.ts";
import {
  inputWake,
  removedWake,
  requestWake,
  stallOf,
  stallWake,
  turnWake,
  type WakeFacts,
  wakeId,
  wakesParent,
} from "./wakes.ts";

const RETRY_MS = 1000;
const MAX_CHECK_MS = 30_000;

/** All that a family sees of the sessions. */
export interface FamilyParts extends DeliveryParts {
  /** Every session that is known, in memory or only in the store. */
  rows(): Iterable<SessionRow>;
  /** Those whose agent is up. */
  running(): Iterable<Running>;
  lastAction?(session_id: string): Action | undefined;
  /** A turn has gone silent, whoever its parent is. Never waits or throws. */
  stalled?(row: SessionRow, silentMs: number): void;
}

export interface FamilyOptions {
  limits: FamilyLimits;
  /** Silence of a running turn that is told; 0 is none. */
  stallMs: number;
  /** Before the first new try of what could not be told. */
  retryMs?: number;
}

export class Family implements Pick<SessionHooks, "turnEnded" | "asked"> {
  readonly #parts: FamilyParts;
  readonly #options: FamilyOptions;
  readonly #delivery: WakeDelivery;
  readonly #stalls: Stalls;
  /** Turns that their own parent wants stopped. */
  readonly #stopped = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: FamilyParts, options: FamilyOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#delivery = new WakeDelivery(parts, options.retryMs ?? RETRY_MS);
    this.#stalls = new Stalls(options.stallMs);
  }

  /**
   * Marks the row, which the caller stores together with the result; `row.last_result` is of this turn already. May be
   * called again for the same turn when it does not go on after all.
   */
  turnEnded(row: SessionRow, result: ResultEvent, goesOn: boolean): void {
    const { session_id } = row;
    const silences = this.#stalls.ended(session_id, result.turn_id);
    const stopped = this.#stopped.get(session_id);
    this.#stopped.delete(session_id);
    if (!wakesParent(row)) return;
    for (let number = 1; number <= silences && result.turn_id !== undefined; number += 1) {
      this.#delivery.recall(session_id, wakeId(session_id, stallOf(result.turn_id, number)), row.parent);
    }
    const isParentsWish =
      result.subtype === "interrupted" && stopped !== undefined && stopped === result.turn_id;
    const wake = isParentsWish ? undefined : turnWake(row, result, this.#facts(session_id));
    const held = this.#delivery.release(session_id);
    if (held !== undefined && held !== wake?.wake_id) dropWake(row, held); // the turn went on, to this end
    if (wake === undefined || (goesOn && (row.queue ?? []).length > 0)) return;
    putWake(row, wake);
    // Works on by itself: told when it is calm, or by the next life if this one does not see that.
    if (goesOn) this.#delivery.hold(session_id, wake.wake_id);
    else this.#delivery.deliver(session_id);
  }

  /** A message of its queue that the agent could not be given: no turn begins that could end. The caller stores the row. */
  inputFailed(row: SessionRow, message_id: string, error: { code: string; message: string }): void {
    const wake = inputWake(row, message_id, error, this.#facts(row.session_id));
    if (wake === undefined) return;
    putWake(row, wake);
    this.#delivery.deliver(row.session_id);
  }

  asked(row: SessionRow, request: RequestRow): void {
    const wake = requestWake(row, request, this.#facts(row.session_id));
    if (wake !== undefined) this.#delivery.add(row.session_id, wake);
  }

  /** A request is not pending any more: answered, expired, withdrawn or orphaned. */
  settled({ session_id, request_id }: Pick<RequestRow, "session_id" | "request_id">): void {
    const row = this.#parts.row(session_id);
    if (row?.turn !== undefined) this.#stalls.answered(session_id, this.#parts.now());
    if (row !== undefined && wakesParent(row)) {
      this.#delivery.recall(session_id, wakeId(session_id, request_id), row.parent);
    }
  }

  /** The session was deleted in the middle of its work; `by` as below. Its own row can tell nobody any more. */
  async removed(row: SessionRow, by: string | undefined): Promise<void> {
    const wake = removedWake(row, this.#facts(row.session_id));
    if (wake === undefined || row.parent === undefined || row.parent === by) return;
    const { log, now } = this.#parts;
    try {
      await this.#parts.enqueue(row.parent, {
        message_id: wake.wake_id,
        kind: "wake",
        message: { role: "user", content: wake.text },
        queued_at_ms: now(),
        from: row.session_id,
      });
    } catch (error) {
      log.warn("wake.dropped", { session_id: row.session_id, message: messageOf(error) });
    }
  }

  /** Before a turn is interrupted or a session stopped. `by`: the session whose agent wants it; absent for a person. */
  noteStop(session_id: string, by: string | undefined): void {
    const row = this.#parts.row(session_id);
    if (row?.turn === undefined || by === undefined || row.parent !== by) return;
    this.#stopped.set(session_id, row.turn.turn_id);
  }

  /** Once the rows are known: delivers what the last life of the daemon did not. */
  resume(): void {
    this.#delivery.resume(this.#parts.rows());
  }

  /** Throws `family_limit` when the session may have no more children, `session_unknown` when there is none. */
  checkSpawn(parent_id: string): void {
    const known = new Map<string, SessionRow>();
    for (const row of this.#parts.rows()) known.set(row.session_id, row);
    checkSpawn(parent_id, known, this.#options.limits);
  }

  /** `session_id` is above the other one in its family. */
  isAbove(session_id: string, below_id: string): boolean {
    const below = this.#parts.row(below_id);
    if (below === undefined) return false;
    return ancestors(below, (id) => this.#parts.row(id)).some((row) => row.session_id === session_id);
  }

  checkStalls(nowMs: number): void {
    if (this.#options.stallMs <= 0) return;
    for (const { row, ...silence } of this.#stalls.check(this.#parts.running(), nowMs)) {
      const { session_id } = row;
      this.#parts.log.warn("session.stalled", { session_id, silent_ms: silence.silentMs });
      this.#parts.stalled?.(row, silence.silentMs);
      const wake = stallWake(row, silence, { ...this.#facts(session_id), nowMs });
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

  /** Resolves when every wake has arrived. */
  idle(): Promise<void> {
    return this.#delivery.idle();
  }

  /** Rows are still marked; what is in them then is delivered in the next life. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#delivery.close();
  }

  #facts(session_id: string): WakeFacts {
    return { nowMs: this.#parts.now(), lastAction: this.#parts.lastAction?.(session_id) };
  }
}
