// Requests about a call before it could run, and how long they took. A call whose requests were never accepted did not
// run, whatever its result says. Plain data; only requests.ts and reduce.ts change it.
import { computeWaitedMs, endWait, NO_WAIT, startWait, type WaitClock } from "../base/wait-clock.ts";
import { findNotRunReason, type NotRunReason, toVerdict, type Verdict } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import { type Call, toPatch } from "./calls.ts";

/** The requests about one call. */
export interface Asks {
  readonly verdicts: Map<string, Verdict>;
  clock: WaitClock;
  /** File changes from the requests, which know more than the call's input. */
  change?: Partial<Call>;
}

/** Above this the oldest are dropped: their calls never appeared. */
const MAX_ASKS = 500;

export function noteAsk(asks: Map<string, Asks>, row: RequestRow, nowMs: number): void {
  const { item_id, request_id } = row;
  if (item_id === undefined) return;
  const verdict = toVerdict(row);
  let known = asks.get(item_id);
  if (known === undefined) {
    // The end of a request that this daemon did not see start, or whose call is over.
    if (verdict !== "waiting") return;
    known = { verdicts: new Map(), clock: NO_WAIT };
    asks.set(item_id, known);
    const [oldest] = asks.keys();
    if (asks.size > MAX_ASKS && oldest !== undefined) asks.delete(oldest);
  }
  known.verdicts.set(request_id, verdict);
  if (row.payload.changes !== undefined) known.change = toPatch(row.payload.changes);
  known.clock =
    verdict === "waiting"
      ? startWait(known.clock, request_id, row.requested_at_ms)
      : endWait(known.clock, request_id, row.resolved_at_ms ?? nowMs);
}

/** Undefined if there was no request, or it was accepted. */
export function explainNotRun(asks: Asks | undefined, cause: NotRunReason): NotRunReason | undefined {
  return findNotRunReason(asks?.verdicts.values() ?? [], cause);
}

export function isWaiting(asks: Asks | undefined): boolean {
  return (asks?.clock.open.length ?? 0) > 0;
}

export function countWaitMs(asks: Asks | undefined, nowMs: number): number {
  return asks === undefined ? 0 : computeWaitedMs(asks.clock, nowMs);
}
